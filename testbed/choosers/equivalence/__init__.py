"""What the complete search rests on: which Runs differ in nothing but orders that do not matter.

In order: orders, certificate, classes, tree.
"""
