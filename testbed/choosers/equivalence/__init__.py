"""What the complete search rests on: which orders of turns come to the same.

In order: orders, certificate, tree.
"""
