"""Decisions: what was decided about one pod, and how that is worded.

May use: queue.
In order: pick, decision, messages, sentence, facts.
"""
