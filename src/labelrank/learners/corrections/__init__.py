"""Corrections on top of a frozen ranker."""
