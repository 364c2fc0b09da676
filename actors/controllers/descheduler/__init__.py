"""The descheduler: evicts pods that would be better elsewhere; the scheduler may not agree.

May use: frame.
In order: policy, sight; then siblings, descheduler.
"""
