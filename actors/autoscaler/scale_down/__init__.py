"""Scale-down: which nodes the cluster can do without, and how they go.

taints.py        the two marks that the autoscaler puts on nodes
utilisation.py   how much of a node is requested
drainability.py  which pods would have to move, and which forbid it
planning/        which nodes are unneeded, since when, and which go now

May use: settings, pass_record, simulation, state.
In order: taints, overtime, utilisation, drainability, deletions, planning.
"""
