"""What every scheduler-like program shares: pods and nodes summed up, a snapshot of them, and the
filters that say whether a pod fits on a node.

In order: podinfo, nodeinfo, cluster_events, refusal, topology_counts, tally, snapshot,
  node_matching, filter, filters.
"""
