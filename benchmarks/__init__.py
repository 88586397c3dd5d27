"""Benchmarks: `python -m benchmarks [NAME ...] [--quick]`; each prints ratios against rivals."""
