"""The disruption controller: counts the healthy pods of each PodDisruptionBudget, so that evictions
know what they may take.

May use: frame.
In order: counting, covered_pods, scales, controller.
"""
