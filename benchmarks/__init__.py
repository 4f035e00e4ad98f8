"""Benchmarks: ratios measured in one run, because machines differ and are shared."""
