"""The benchmarks, one file each. They compare with something measured on the same machine.

May use: nothing.
In order: load, cycles; then siblings.
"""
