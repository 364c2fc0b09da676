"""Runs with few deviations from the calm one: how one is played, and which come next.

May use: nothing beside it.
In order: deviating, frontier.
"""
