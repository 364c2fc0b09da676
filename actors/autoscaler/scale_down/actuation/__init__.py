"""What goes, done: nodes are tainted, emptied and deleted, by tasks that outlive the pass.

May use: taints, overtime, utilization, drainability, deletions.
In order: surroundings, tainting, soft_taints, leftovers, eviction, draining, node_deletion.
"""
