"""Tables: objects as rows and columns, as `kubectl get` prints them and as Kubernetes 1.26 has it.

The server makes the cells, kubectl only pads them. A kind is one row of `COLUMNS`; a kind without
one has its name and its age.

May use: accept.
In order: age, column, containers, pods, nodes, columns, table.
"""
