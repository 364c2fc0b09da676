"""Whole clusters in which controllers are judged, and their mutants hunted.

May use: frame, replicaset, deployment, job, disruption, descheduler, node_lifecycle, pod_gc,
  invariants.
In order: siblings.
"""
