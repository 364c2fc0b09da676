"""What actors of every kind share: leader election, Events, work queues, bind and evict as clients
send them, requests that are repeated, looks at everything one period apart, a user from outside,
which owner manages an object, which pods are critical or static, where daemon pods run, how a cloud
is asked for machines, what its machines are, what settings may be, a crash over a request,
and what claims share: which pods were just created, what cpu pods ask for and nodes have left, and
whether a node is overfull.

May use: nothing beside it.
In order: retries, settings, owners, node_groups; then siblings.
"""
