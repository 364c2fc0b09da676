"""The verbs, one file for each family.

May use: rules, call, admission.
In order: patching, create, delete; then siblings.
"""
