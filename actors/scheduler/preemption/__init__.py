"""Preemption: which pods must be deleted so that a pod that fits nowhere fits, and on which node.

May use: switches, cluster, decisions, placing.
In order: budgets, eligibility, importance, preemptor, choice, quick_trial, trial,
  affinity_to_victims, cross_node, lower_nominations, dry_run, victims, candidate, preemption,
  ignoring, __init__.
"""

from actors.scheduler.preemption.preemption import preempt

__all__ = ["preempt"]
