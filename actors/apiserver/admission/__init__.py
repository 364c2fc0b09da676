"""Admission: defaults, resolves and checks an object before it is written.

May use: call, rules.
In order: priority, quota, steps.
"""
