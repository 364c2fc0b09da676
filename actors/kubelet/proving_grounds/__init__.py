"""Whole nodes on which kubelets are judged, and their mutants hunted.

May use: switches, workload, usage, eviction, runtime, kubelet, invariants.
In order: busy_nodes, short_node, full_node, crowded_node.
"""
