"""Pairwise learning: one comparison per pair of labels (Loza Mencía & Fürnkranz 2008, 2010)."""
