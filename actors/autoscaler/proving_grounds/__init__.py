"""Whole clusters in which autoscalers are judged, and their mutants hunted.

May use: autoscaler, invariants, settings.
In order: siblings.
"""
