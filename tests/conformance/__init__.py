"""Conformance: what was recorded of the real scheduler, and how ours is compared with it."""
