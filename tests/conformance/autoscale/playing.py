"""Playing: a recorded case as a World with our autoscaler in it."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from actors.autoscaler import Autoscaler, AutoscalerSettings
from actors.autoscaler.announcer import Announcer
from actors.cloud import Cloud, CloudController
from testbed import Client, World
from testbed.objects import Object
from testbed.objects.event import NORMAL
from testbed.turns.trace import Trace
from tests.conformance.autoscale.clock import CaseClock
from tests.conformance.autoscale.emulation import Hand, Holding, Kubelets, LenientServer, Others
from tests.conformance.autoscale.journal import AUTOSCALER, Journal
from tests.conformance.autoscale.lots import Lots
from tests.conformance.autoscale.objects import CaseObjects, Tree
from tests.conformance.autoscale.telling import Told, outcome_of

GIB = 2**30
AS_THEY_ARE = (
    "max_nodes_total", "max_nodes_per_scaleup", "balance_similar_node_groups",
    "enforce_node_group_min_size", "max_empty_bulk_delete", "max_bulk_soft_taint_count",
    "non_empty_candidates_count", "skip_nodes_with_system_pods", "skip_nodes_with_local_storage",
    "min_replica_count", "ignore_daemonsets_utilization", "ignore_mirror_pods_utilization",
    "daemonset_eviction_for_empty_nodes", "daemonset_eviction_for_occupied_nodes",
    "cordon_node_before_terminating", "scale_down_enabled", "ok_total_unready_count",
    "parallel_drain",
)  # fmt: skip
"""Options that our settings call the same."""
IN_SECONDS = (
    "new_pod_scale_up_delay", "unneeded_time", "unready_time", "delay_after_add",
    "delay_after_delete", "delay_after_failure", "unremovable_recheck",
    "node_delete_delay_after_taint", "max_graceful_termination", "max_pod_eviction_time",
    "max_node_provision_time", "initial_backoff", "max_backoff", "backoff_reset",
)  # fmt: skip
OTHERS = (
    "expander", "expendable_cutoff", "cores_total", "memory_total_gib", "utilization_threshold",
    "max_total_unready_percentage",
)  # fmt: skip
"""Switches, and what has another unit here."""


class LoudAnnouncer(Announcer):
    """Also records each Event, since of repeated ones not all are written."""

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self._loud = client

    def note(self, item: Object, reason: str, message: str, kind: str = NORMAL) -> None:
        """Record it, and write it."""
        self._loud.record("announced", item=item.key, reason=reason, message=message, type=kind)
        super().note(item, reason, message, kind)


@attrs.frozen
class Restarted(Autoscaler):
    """An autoscaler that is restarted at these times."""

    announcer: ClassVar[type[Announcer]] = LoudAnnouncer
    restarts_ms: tuple[int, ...] = ()

    async def run(self, client: Client) -> None:
        """Run until the next restart."""
        client.spawn("restart", self._restart, client)
        await super().run(client)

    async def _restart(self, client: Client) -> None:
        ahead = [at_ms for at_ms in self.restarts_ms if at_ms > client.elapsed()]
        if ahead:
            await client.sleep(ahead[0] - client.elapsed(), "restart")
            client.record("restart")
            client.exit(again_after_ms=0)


def settings_of(case: Tree, clock: CaseClock) -> AutoscalerSettings:
    """The options of a case, and the times of its passes."""
    options = case["options"]
    given: dict[str, Any] = {n: options[n] for n in AS_THEY_ARE if n in options}
    for name in IN_SECONDS:
        if f"{name}_s" in options:
            given[f"{name}_ms"] = round(1000 * options[f"{name}_s"])
    if "utilization_threshold" in options:
        share = options["utilization_threshold"]
        given["utilization_threshold_per_mille"] = round(1000 * share)
    if "max_total_unready_percentage" in options:
        share = options["max_total_unready_percentage"]
        given["max_total_unready_per_mille"] = round(10 * share)
    if "cores_total" in options:
        given["min_cores"], given["max_cores"] = options["cores_total"]
    if "memory_total_gib" in options:
        low, high = options["memory_total_gib"]
        given["min_memory"], given["max_memory"] = low * GIB, high * GIB
    known = {*AS_THEY_ARE, *(f"{name}_s" for name in IN_SECONDS), *OTHERS}
    if unknown := sorted(set(options) - known):
        raise KeyError(f"options {unknown}")
    passes = tuple([clock.ms(at_s) for at_s in case["passes"]])
    return AutoscalerSettings(passes_ms=passes, **given)


def switches_of(case: Tree) -> dict[str, str]:
    """The options that are switches of ours."""
    options = case["options"]
    found = {"expander": options["expander"]}
    if "expendable_cutoff" in options:
        found["expendable_cutoff"] = str(options["expendable_cutoff"])
    return found


def world_of(case: Tree, clock: CaseClock, order: str = "sorted") -> World:
    """The World of a case. The autoscaler takes what it lists in that order."""
    world, holding = World(case["id"]), Holding.of(case, clock)
    world.serve(lambda store: LenientServer(store, holding))
    world.serve(Hand)
    world.serve(Cloud)
    world.add(*CaseObjects(clock).all(case))
    script = tuple(case.get("script") or ())
    restarts = tuple([clock.ms(deed["t"]) for deed in script if deed["op"] == "restart"])
    settings, switches = settings_of(case, clock), {**switches_of(case), "list_order": order}
    world.start(
        Others("others", script=script, clock=clock), Kubelets("kubelets", holding=holding),
        Restarted(AUTOSCALER, settings=settings, switches=switches, restarts_ms=restarts),
        CloudController(bare=tuple([group["name"] for group in case["groups"]])),
    )  # fmt: skip
    end_s = max(case.get("end") or 0, *case["passes"], 0)
    world.limit(virtual_ms_max=clock.ms(end_s), turns_max=10**7)
    return world


def play(case: Tree, seed: int = 0) -> Told:
    """What ours does in a case, in the words of the recording, by these lots."""
    clock = CaseClock.of(case)
    order = "picked" if seed else "sorted"
    world, journal = world_of(case, clock, order), Journal(clock)
    world.claim(journal)
    verdict = world.run(Lots(seed), driver="direct", trace=Trace({}, keep=False))
    if verdict.violations:
        raise AssertionError(str(verdict))
    return outcome_of(journal, world.store, clock)
