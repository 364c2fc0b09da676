"""What actors of every kind share: leader election, Events, work queues, bind and evict as clients
send them, and a user from outside.

May use: nothing beside it.
Siblings: no file here imports another.
"""
