"""Chains of classifiers, from independent ones to Viterbi (Read, Martino & Luengo 2013)."""
