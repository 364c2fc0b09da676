"""Controllers: each compares what is there with what is wanted, and closes the gap.

May use: shared.
In order: kinship; then siblings.
"""
