"""Kubelets with one bug each, and the claim that must find it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import attrs

from actors.kubelet.kubelet import Kubelet
from actors.kubelet.lifecycle import Lifecycle
from actors.kubelet.proving_ground import busy_nodes
from actors.kubelet.runtime import Report
from actors.kubelet.status import Facts
from actors.kubelet.status_writer import StatusWriter
from testbed.objects import Pod, PodStatus
from testbed.testing.mutant import Mutant

# -- bugs in the life of a pod --------------------------------------------------------------------


class PublishesEarly(Lifecycle):
    """Publishes a terminal phase while the node still holds what the pod took."""

    def _facts(self, report: Report | None) -> Facts:
        return attrs.evolve(super()._facts(report), may_be_over=True)


class CountsNoTerminating(Lifecycle):
    """A pod that terminates takes no room any more."""

    def update(self, pod: Pod, *, is_gone: bool = False) -> None:
        super().update(pod, is_gone=is_gone)
        if pod.meta.is_terminating:
            self.holds_room = False


class ForgetsBackOff(Lifecycle):
    """Starts containers again as soon as they have ended."""

    async def _restart(self, ended_ms: int) -> None:
        self._back_off.wait_ms = 0
        await super()._restart(ended_ms)


class KeepsOrphans(Lifecycle):
    """Does not end a pod that is deleted by force."""

    def update(self, pod: Pod, *, is_gone: bool = False) -> None:
        if not is_gone and pod.meta.grace_s != 0:
            super().update(pod)


class DeletesTooSoon(StatusWriter):
    """Deletes the object of a terminating pod that still runs."""

    def set(self, pod: Pod, status: PodStatus, *, is_stopped: bool) -> None:
        super().set(pod, status, is_stopped=True)


class DeletesByName(StatusWriter):
    """Its last delete of a pod names no uid, and is sent even if there is another by now."""

    async def _delete(self, entry: Any) -> None:
        meta = entry.pod.meta
        await self._client.sleep(1000, "slow")
        entry.pod = entry.pod.with_meta(uid="")
        await super()._delete(entry)
        entry.pod = entry.pod.with_meta(uid=meta.uid)


# -- all of them ----------------------------------------------------------------------------------


def with_parts(**parts: Any) -> Callable[..., None]:
    """The proving ground, with kubelets made of those parts."""
    return partial(busy_nodes, kubelet=type("MutatedKubelet", (Kubelet,), parts))


TWICE, ROOM, ENDS, DISTANCE = (
    "no_pod_runs_twice", "nodes_run_what_fits", "over_means_stopped",
    "restarts_keep_their_distance",
)  # fmt: skip
MUTANTS = (
    Mutant("over-too-early", "a phase is terminal before all is torn down",
           with_parts(lifecycle=PublishesEarly), ENDS),
    Mutant("counts-no-terminating", "a terminating pod takes no room",
           with_parts(lifecycle=CountsNoTerminating), ROOM),
    Mutant("forgets-back-off", "containers that crash are started again at once",
           with_parts(lifecycle=ForgetsBackOff), DISTANCE),
    Mutant("keeps-orphans", "what is deleted by force runs on",
           with_parts(lifecycle=KeepsOrphans), TWICE),
    Mutant("deletes-too-soon", "an object is deleted while its containers run",
           with_parts(writer=DeletesTooSoon), ENDS),
    Mutant("deletes-any-uid", "the last delete of a pod hits another one of that name",
           with_parts(writer=DeletesByName), ENDS),
)  # fmt: skip
"""Each mutant with the claim that must kill it."""
