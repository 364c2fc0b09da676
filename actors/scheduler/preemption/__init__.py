"""Makes room for a pod that fits nowhere: who has to go, and on which node."""

from actors.scheduler.preemption.preempting import preempt

__all__ = ["preempt"]
