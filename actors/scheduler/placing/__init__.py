"""Placing: which nodes are feasible for a pod, and which of them scores best.

May use: switches, score.
In order: avoid, judging, verdicts, feasibility, scoring.
"""
