"""The scheduler: gives pods their nodes, and makes room for the important ones.

to read first  scheduler.py    the actor, and whose pods it schedules
               office.py       what one life of it does: one cycle after another
what it knows  books.py        all of that together; handlers.py: what informers tell
               cache.py        the cluster as it believes it is; nodeinfo, podinfo, snapshot
               queue.py        the pods that wait; fifo.py: in one line; queued, heap, events
               nominator.py    whom room was made for
how it decides cycle.py        one pod, one decision (decision.py)
               filters/        which nodes will do; filtering, judging: asked together
               scores/         which is liked best; scoring: added up
               preemption/     who has to go; trying, trial, room: what would be then
what it does   binding.py      assume, reserve, permit, bind
               effects.py      evict the victims; failing.py: let the pod wait again
               leading.py      one of several replicas at a time
how to change  switches.py     every behaviour that differs; policies.py, points.py: your own parts
who judges it  reference/      the rules in plain loops; invariants/, mutants.py
why it did so  facts.py        what a trace keeps of a cycle; saying.py: in a sentence

May use: framework, shared.
In order: switches, score, scores, cluster, queue, decisions, plugins, placing, preemption, decider,
  policies, memory, writes, schedule_one, scheduler, __init__, reference, invariants,
  proving_ground, mutants.
"""

from actors.framework.filter import Filter
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot
from actors.scheduler.decisions.decision import Decision
from actors.scheduler.plugins import Rejected, Wait
from actors.scheduler.preemption.dry_run import DryRun
from actors.scheduler.scheduler import Scheduler
from actors.scheduler.score import Score

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
