"""The scheduler: gives pods their nodes, and makes room for the important ones."""

from actors.scheduler.scheduler import Scheduler

__all__ = ["Scheduler"]
