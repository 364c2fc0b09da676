"""What actors of every sort share: leader election, Events, work queues, verbs, and a user.

Siblings: no file here imports another.
"""
