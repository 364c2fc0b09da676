"""What goes, decided: which nodes the cluster could do without, and which of them go now.

May use: taints, utilization, drainability, deletions.
In order: outlook, destinations, unneeded, unremovable, limits, removal, eligibility, planner,
  parallel_planner.
"""
