"""The scheduler: gives pods their nodes, and makes room for the important ones."""

from actors.scheduler.decision import Decision, Refusal
from actors.scheduler.filter import Filter
from actors.scheduler.nodeinfo import NodeInfo
from actors.scheduler.podinfo import PodInfo
from actors.scheduler.points import Rejected, Wait
from actors.scheduler.preemption.dry_run import DryRun
from actors.scheduler.scheduler import Scheduler
from actors.scheduler.score import Score
from actors.scheduler.snapshot import Snapshot

__all__ = [
    "Decision",
    "DryRun",
    "Filter",
    "NodeInfo",
    "PodInfo",
    "Refusal",
    "Rejected",
    "Scheduler",
    "Score",
    "Snapshot",
    "Wait",
]
