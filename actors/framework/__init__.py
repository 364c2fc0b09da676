"""What every program that schedules shares: sums of pods and nodes, a snapshot of the cluster, and
the filters that say whether a pod fits on a node.

May use: nothing beside it.
In order: podinfo, nodeinfo, cluster_events, refusal, pods_by_kind, tally, snapshot,
  node_matching, filter, filters, fitting.
"""
