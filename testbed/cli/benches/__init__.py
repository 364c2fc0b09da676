"""The benchmarks, one file each. Each figure comes with a baseline from the same run:
plain trio, or a smaller size.

May use: nothing beside it.
In order: load, cycles, life, knocking, room_profile; then siblings.
"""
