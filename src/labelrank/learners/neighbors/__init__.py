"""Nearest neighbours: ranked by vote, or by ML-kNN."""
