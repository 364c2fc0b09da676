"""Decisions: what was decided for one pod in one cycle, and how that is put into words.

May use: queue.
In order: pick, decision, messages, sentence, facts.
"""
