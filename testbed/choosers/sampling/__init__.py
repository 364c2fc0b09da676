"""What the random Choosers share: where their chance comes from, and what Runs have shown.

In order: chance, learned, profiler, sampler.
"""
