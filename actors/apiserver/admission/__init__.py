"""Admission: sets defaults, resolves the priority, charges quotas, or refuses, before a write.

May use: call, rules.
In order: priority, quota, tolerations, steps.
"""
