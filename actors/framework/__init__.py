"""What every program that schedules shares: sums of pods and nodes, a snapshot of the cluster, and
the filters that say whether a pod fits on a node.

In order: podinfo, nodeinfo, cluster_events, refusal, topology_counts, tally, snapshot,
  node_matching, filter, filters.
"""
