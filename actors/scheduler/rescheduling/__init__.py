"""Rescheduling: another program makes room for pods that a scheduler found no node for (CTL-51).

May use: switches, cluster, decisions, preemption, decider, policies, memory, writes.
In order: room_plan, own_sight, guard_taint, rescheduler, __init__.
"""

from actors.scheduler.rescheduling.rescheduler import Rescheduler

__all__ = ["Rescheduler"]
