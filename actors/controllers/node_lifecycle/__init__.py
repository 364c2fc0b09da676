"""Node lifecycle: notices nodes that are not ready, taints them, and deletes the pods that do not
tolerate that.

May use: frame.
In order: taints, zones, health, rate_limited_queue, patching, pods_on_nodes, lifecycle,
  taint_eviction.
"""
