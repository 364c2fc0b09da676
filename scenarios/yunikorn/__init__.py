"""Races of YuniKorn with those that schedule beside it.

May use: nothing beside it.
Siblings: no file here imports another.
"""
