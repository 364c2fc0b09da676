"""Twins: a violated Run beside the nearest one that holds, and what makes the difference.

May use: sightings, knowledge, rerun, requests, reruns.
In order: side, history, asking_again, about, nearest, pair, reason, looking_back, compared.
"""
