"""Preference learning machines: labels and instances in one embedding (Lauriola et al.)."""
