"""What the random Choosers share: seeded draws, and what earlier Runs have shown.

May use: nothing beside it.
In order: chance, learned, profiler, sampler.
"""
