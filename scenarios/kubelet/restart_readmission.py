"""A kubelet restarts, counts pods that have completed, and rejects one that runs."""

from __future__ import annotations

from functools import partial
from typing import Any

from actors.apiserver import ApiServer
from actors.kubelet import Kubelet, Runtime, Workload
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed import Evidence, World, always
from testbed.faults.crash import Crash
from testbed.objects import Map, Node, Pod

NODE = "n1"
DOWN_MS = 1_000
"""How long the kubelet is down."""


def no_running_pod_is_failed(see: Evidence) -> str | None:
    """No kubelet sets a Running pod to Failed: here no container fails."""
    for change in see.changes:
        old: Any = change.before
        new: Any = change.after
        if not isinstance(old, Pod) or not isinstance(new, Pod) or old.status.phase != "Running":
            continue
        if new.status.phase == "Failed":
            return f"{new.key} was Running and has Failed: {new.status.message}"
    return None


def restart_readmission(world: World, *, guard: bool = False) -> None:
    """Two jobs complete, a service runs in their place, and the kubelet restarts.

    It admits all pods of its node again, the oldest first. The kubelet of 1.22 also counted pods
    that had completed, so the service no longer fitted (kubernetes#105523). Guarded, it does not.

    Cause: a kubelet that restarts counts completed pods when it admits the others again.
    Look for: web is rejected after the restart, as 800 are used, by two jobs that have Succeeded.
    Source: kubernetes#105523.
    Tags: restart, two-views.
    """
    world.serve(ApiServer)
    world.serve(partial(Runtime, node=NODE))
    world.add(Node.of(NODE, cpu_m=1000))
    told = Map(bug_counts_terminal="off" if guard else "on")
    world.start(Kubelet(f"kubelet-{NODE}", NODE, switches=told), Scheduler("default-scheduler"))
    job = Workload(runs_ms=1_000)
    jobs = [job.given_to(Pod.of(n, cpu_m=400, restart_policy="Never")) for n in ("job-1", "job-2")]
    web = Pod.of("web", cpu_m=400)
    world.start(User("user", ((0, jobs[0]), (0, jobs[1]), (5_000, web), (20_000, Pod.of("last")))))
    world.allow(Crash(f"kubelet-{NODE}", restart_after_ms=DOWN_MS))
    world.claim(always(no_running_pod_is_failed))
