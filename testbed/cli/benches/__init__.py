"""The benchmarks, one file each: ratios against something measured in the same run.

May use: nothing.
In order: load, cycles; then siblings.
"""
