"""Rules of features that are there."""
