"""Node lifecycle: notices nodes that are silent or unwell, taints them, and deletes the pods that
do not tolerate it.

May use: frame.
In order: taints, zones, health, limiter, patching, pods_on_nodes, lifecycle,
  taint_eviction.
"""
