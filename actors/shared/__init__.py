"""What actors of every kind share: leader election, Events, work queues, verbs, and a user.

Siblings: no file here imports another.
"""
