"""The scheduler: gives pods their nodes, and makes room for the important ones.

scheduler.py     the actor, its settings, and which pods it schedules: read this first
schedule_one.py  the loop of scheduling cycles that is one life of it
memory/          what it knows: informers and their handlers, beliefs, timers, leadership
cluster/         its cache of nodes and pods, assumed ones included; nominations
queue/           where pods wait: active, backoff and unschedulable queue; the old FIFO queue
decider.py       one cycle of one pod, from the snapshot to a Decision
placing/         which nodes are feasible (filters: framework/filters/), and which is best
scores/          what makes one feasible node better than another, one file each
preemption/      which pods must go for one that fits nowhere, and on which node
decisions/       what was decided and why, as messages and traces word it
rescheduling/    the Rescheduler, which makes room in place of the scheduler: a rejected alternative
writes/          what follows: bind the pod, evict the victims, or requeue it and patch its status
switches.py      every behaviour that differs between versions; profiles
plugins.py       the extension points after the choice of a node; policies.py: a user's own parts
invariants/      the claims it is judged by; reference/ has the same rules in plain loops
mutants.py       schedulers with a bug each, to prove the claims, and their wrong_parts.py;
                 proving_ground.py: their clusters

May use: framework, shared.
In order: switches, score, scores, cluster, queue, decisions, plugins, placing, preemption, decider,
  policies, memory, writes, schedule_one, scheduler, rescheduling, __init__, reference, invariants,
  proving_ground, wrong_parts, mutants.
"""

from actors.framework.filter import Filter
from actors.framework.nodeinfo import NodeInfo
from actors.framework.podinfo import PodInfo
from actors.framework.refusal import Refusal
from actors.framework.snapshot import Snapshot
from actors.scheduler.decisions.decision import Decision
from actors.scheduler.plugins import Rejected, Wait
from actors.scheduler.preemption.dry_run import DryRun
from actors.scheduler.rescheduling import Rescheduler
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
    "Rescheduler",
    "Scheduler",
    "Score",
    "Snapshot",
    "Wait",
]
