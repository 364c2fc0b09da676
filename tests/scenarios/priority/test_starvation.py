"""starvation: an important pod whose room is taken again and again, and one whose room is kept."""

from __future__ import annotations

import pytest

from testbed.choosers.calm import Calm
from testbed.choosers.uniform import Uniform
from testbed.errors import ScenarioError
from testbed.faults.server_error import ServerError
from testbed.turns.trace import Trace
from testbed.world.scenario import find
from tests.shared.stage import play

RECIPE = find("starvation")
UPTO_MS = 300_000
ROUND_1 = "0 delete v1 v2 v3 v4 v5"
IN_ONE_LINE = [
    ROUND_1, "10 bind s01", "20 bind s02", "30 bind s03", "40 bind s04",
    "50 delete s01 s02 s03 s04", "50 bind s05",
    "80 delete s05", "80 bind s06 s07 s08", "85 bind s09",
    "110 delete s06 s07 s08 s09", "110 bind s10",
    "140 delete s10", "140 bind s11 s12 s13 s14",
    "170 delete s11 s12 s13 s14", "170 bind s15",
    "200 delete s15", "200 bind s16 s17 s18 s19",
    "230 delete s16 s17 s18 s19", "230 bind s20",
    "260 delete s20", "260 bind s21 s22 s23 s24",
    "290 delete s21 s22 s23 s24", "290 bind s25",
]  # fmt: skip


def decided(**switches: str) -> list[str]:
    """What the scheduler has done of its own in five minutes of the calm Run, by the second."""
    world = RECIPE.world({"pods": "30", **switches})
    world.goes_on = True
    world.limit(virtual_ms_max=UPTO_MS)
    trace = Trace({}, keep=True)
    world.run(Calm(), driver="direct", trace=trace)
    told: dict[str, list[str]] = {}
    for step in trace.steps:
        operation = step.operation
        if step.kind != "serve" or operation is None or not step.option.path.startswith("alpha/"):
            continue
        verb = "bind" if operation.subresource == "binding" else operation.verb
        if operation.plural == "pods" and verb in ("bind", "delete"):
            told.setdefault(f"{step.now_ms // 1000} {verb}", []).append(operation.name)
    # Which of equal victims is the first is not told here.
    return [
        " ".join((when, *(sorted(names) if "delete" in when else names)))
        for when, names in told.items()
    ]


@pytest.mark.spec("SCH-29", "SCH-30", "SCH-31", "SCH-32")
def test_in_one_line_it_makes_room_ten_times_and_has_none() -> None:
    """The golden table, event by event: small pods take what was made free for it, and it may make
    room again only when all that it has deleted is gone."""
    each_second = {"scheduler.fifo_retry": "1000"}
    assert decided(guard="off", **each_second) == IN_ONE_LINE


@pytest.mark.spec("INV-23", "SCH-59", "SCH-102")
@pytest.mark.parametrize("profile", ["seed", "k8s-1.26", "k8s-modern"])
def test_where_its_room_is_kept_once_is_enough(profile: str) -> None:
    """It is bound when the last of those has ended that were in its way; no small pod ever is."""
    given = {"guard": "on", "scheduler.profile": profile}
    assert decided(**given) == [ROUND_1, "50 bind p"]


@pytest.mark.spec("INV-15")
def test_the_claim_tells_one_from_the_other() -> None:
    """In the calm Run and in others: the first small pod that is bound is one too many."""
    for chooser in (Calm(), Uniform(1), Uniform(2)):
        assert RECIPE.world({"guard": "on"}).run(chooser, driver="direct").is_held
        starved = RECIPE.world().run(chooser, driver="direct")
        assert next(str(v) for v in starved.violations).startswith(
            "nobody_takes_its_room: room was made on n1 for p, and it is taken by s0"
        )


@pytest.mark.spec("INV-15", "SCH-64")
def test_who_could_not_be_bound_has_no_claim_on_its_room() -> None:
    """Its scheduler has cleared the nomination, also where the patch that says so failed; the small
    pods that come next are no thieves."""
    refused = ("create/binding pods/default/p", "patch/status pods/default/p")
    cues = [f"fault * server_error alpha/bind-p {what}" for what in refused]
    world = RECIPE.world({"guard": "on"}, faults=[ServerError("alpha", code=403, times_max=2)])
    played = play(world, *cues)
    assert [step.now_ms for step in played.every("fault *")] == [50_000, 50_000]
    assert played.every("serve alpha/bind-s0* create/binding *")


def test_without_small_pods_nobody_starves() -> None:
    """So that is refused: the Run would hold, and prove nothing."""
    with pytest.raises(ScenarioError, match="pods=0: expected 1 or more"):
        RECIPE.world({"pods": "0"})
