"""What people do to a cluster from outside: drain a node, and keep a workload changing.

May use: shared.
In order: drain, commands, stream.
"""
