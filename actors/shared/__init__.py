"""What actors of every kind share: leader election, Events, work queues, bind and evict as clients
send them, requests that are repeated, and a user from outside.

May use: nothing beside it.
In order: retries; then siblings.
"""
