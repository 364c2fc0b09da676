"""What actors of every kind share: leader election, Events, work queues, bind and evict as clients
send them, requests that are repeated, a user from outside, which owner manages an object, and
which pods are critical or static.

May use: nothing beside it.
In order: retries; then siblings.
"""
