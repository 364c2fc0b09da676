"""Admission: what is defaulted, resolved and checked before an object is written.

May use: call, rules.
In order: priority, quota, steps.
"""
