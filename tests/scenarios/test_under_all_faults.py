"""What holds holds under every fault: guarded scenarios, and all actors that come with them."""

from __future__ import annotations

from functools import partial

import pytest

from actors.apiserver import ApiServer
from actors.apiserver.bootstrap import Bootstrap
from actors.apiserver.housekeeping import Housekeeping
from actors.controllers.garbage import GarbageCollector
from actors.controllers.quota import QuotaController
from actors.controllers.recreator import Recreator
from actors.kubelet import Kubelet, Runtime
from actors.scheduler import Scheduler
from actors.shared.user import User
from testbed.choosers.pct import PCT
from testbed.choosers.uniform import Uniform
from testbed.objects import Node, Owner, Pod, QuotaSpec, ReplicaSet, ResourceQuota
from testbed.objects.quantity import amounts
from testbed.world.fault_kinds import fault_kinds
from testbed.world.scenario import Scenario, of
from testbed.world.world import World
from tests.models.all_faults import Told, told
from tests.models.worlds.recipes import recipes

GUARDED = [each for each in recipes() if each.values[0].has_guard]
"""A control holds under the faults that it allows, and a lesson without any."""
SAID = ("given_away", "own_writes_unseen")
"""Their pages say which faults that they do not allow undo the guard; a few Runs in a hundred show
it."""
UNDOES_NONE = [each for each in GUARDED if each.values[0].name not in SAID]
CHOOSERS = [pytest.param(Uniform, id="uniform"), pytest.param(PCT, id="pct")]
GONE = Owner("apps/v1", "ReplicaSet", "gone", "uid-gone", False, False)


def everybody(world: World, *, guard: bool = False) -> None:
    """All actors, with something to do for each."""
    world.serve(lambda store: ApiServer(store, "api-1"))
    world.serve(lambda store: ApiServer(store, "api-2", lags=("pods",), lag_ms=2000))
    world.add(Node.of("n1", cpu_m=1000), ReplicaSet("set"))
    world.add(ResourceQuota("quota", spec=QuotaSpec(hard=amounts({"pods": "5"}))))
    world.serve(partial(Runtime, node="n1"))
    orphan = Pod.of("orphan", cpu_m=100).with_meta(owners=(GONE,))
    more = tuple((at_ms, Pod.of(f"p{at_ms}", cpu_m=600, grace_s=1)) for at_ms in (500, 3000))
    world.start(
        Bootstrap("bootstrap"), User("user", ((0, orphan), *more)),
        Recreator("web", Pod.of("web", cpu_m=300)), GarbageCollector(), QuotaController("quotas"),
        Housekeeping(ttl_ms=5000, every_ms=5000), Kubelet("kubelet-n1", "n1"),
        Scheduler("default-scheduler", elects=True), Scheduler("other", elects=True),
        at=("api-1", "api-2"),
    )  # fmt: skip
    world.limit(virtual_ms_max=20_000)


def unbroken(scenario: Scenario, chooser: Uniform | PCT, runs: int) -> Told:
    """What guarded Runs have told, of which none broke a claim."""
    found = told(scenario, chooser, runs, {"guard": "on"})
    assert found.breaches == ()
    return found


def deaths(scenario: Scenario, chooser: Uniform | PCT, runs: int) -> list[str]:
    """The breaches of Runs that time ends, which are undecided at best."""
    found = told(scenario, chooser, runs).breaches
    return [breach for breach in found if ": Violated" in breach]


@pytest.mark.parametrize("chooser", CHOOSERS)
@pytest.mark.parametrize("scenario", GUARDED)
def test_guarded_nothing_breaks_whatever_strikes(
    scenario: Scenario, chooser: type[Uniform | PCT]
) -> None:
    """No claim, and no actor: it asks again later, as the real one does."""
    assert unbroken(scenario, chooser(1), 4).struck > 0


@pytest.mark.long
@pytest.mark.parametrize("chooser", CHOOSERS)
@pytest.mark.parametrize("scenario", UNDOES_NONE)
def test_guarded_nothing_breaks_in_twenty_thousand_runs(
    scenario: Scenario, chooser: type[Uniform | PCT]
) -> None:
    """Of all scenarios together; in each of them every kind of fault has struck that can, if each
    is as likely. Without a second server or a watch some cannot."""
    found = unbroken(scenario, chooser(2), 770)
    cannot = {"stale"} if found.watches else {"stale", "break_watch", "lag"}
    assert chooser is PCT or set(fault_kinds()) - found.words <= cannot


@pytest.mark.parametrize("chooser", CHOOSERS)
def test_no_actor_dies_whatever_strikes(chooser: type[Uniform | PCT]) -> None:
    """All that come with the testbed, in one World."""
    assert deaths(of(everybody), chooser(1), 15) == []


@pytest.mark.long
@pytest.mark.parametrize("chooser", CHOOSERS)
def test_no_actor_dies_in_a_thousand_runs(chooser: type[Uniform | PCT]) -> None:
    """The same, for longer."""
    assert deaths(of(everybody), chooser(2), 500) == []
