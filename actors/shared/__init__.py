"""What actors of every kind share: leader election, Events, work queues, bind and evict as clients
send them, requests that are repeated, looks at everything one period apart, a user from outside,
which owner manages an object, which pods are critical or static, where daemon pods run, how a cloud
is asked for machines, what its machines are, and what settings may be.

May use: nothing beside it.
In order: retries, settings, owners, node_groups; then siblings.
"""
