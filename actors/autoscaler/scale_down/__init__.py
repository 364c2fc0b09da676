"""Scale-down: which nodes the cluster can do without, and how they go.

taints.py        the two marks that the autoscaler puts on nodes
utilization.py   how much of a node is requested
drainability.py  which pods would have to move, and which forbid it
planning/        which nodes are unneeded, since when, and which go now
actuation/       how they go: taint, second look, drain, delete; soft taints
scale_down.py    all of it together, once in each pass: read this first

May use: settings, pass_record, listing_order, node_capacity, asking, simulation, state, announcer,
  listers.
In order: taints, overtime, utilization, drainability, deletions, planning, actuation, cool_downs,
  scale_down.
"""
