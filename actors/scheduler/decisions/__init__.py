"""Decisions: what was decided about one pod, and how that is worded.

May use: queue.
In order: decision, messages, sentence, facts.
"""
