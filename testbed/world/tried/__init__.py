"""Tried: what was tried in a Run, or in many, and what never happened.

May use: nothing beside it.
In order: subject, counts, judged, saying.
"""
