"""Gone: a crash for good is named if the claim waits for that program, and only then."""

from __future__ import annotations

from collections.abc import Callable

from testbed.client.client import Client
from testbed.fault import Fault
from testbed.faults.crash import Crash
from testbed.faults.restart import Restart
from testbed.invariant import Claim, Evidence, always, eventually, quiescent
from testbed.objects import Note
from testbed.story.candidates import causes_of
from testbed.story.cause import Cause, CauseShape
from testbed.story.diagram import Row, Rows
from testbed.story.sentences import Sentences
from testbed.story.slice import Slice
from testbed.turns.pending import Alternatives, Options
from testbed.turns.trace import Trace
from testbed.world.scenario import of
from testbed.world.world import World
from tests.each_row import each_row
from tests.models import incidents
from tests.models.incidents import note, shop, the_order_is_baked
from tests.shared.stage import Cued, Puppet

STRUCK = "fault*crash baker"


class Last(Cued):
    """Picks the last of what there is to pick from."""

    def choose(self, options: Options | Alternatives) -> int:
        return len(options) - 1 if isinstance(options, Alternatives) else super().choose(options)


def told(
    build: Callable[[World], None], *cues: str, by: type[Cued] = Cued
) -> tuple[Slice, list[Cause]]:
    """The Run of that World with these cues, and its causes, the best first."""
    trace, chooser = Trace({}, keep=True), by(*cues)
    verdict = of(build).world().run(chooser, driver="direct", trace=trace)
    assert not chooser.cues, f"never offered: {chooser.cues}"
    slice_ = Slice(trace, verdict.violations[0])
    return slice_, list(causes_of(slice_))


def gone(causes: list[Cause]) -> list[str]:
    """Who is said to be gone for good."""
    return [cause.actor for cause in causes if cause.shape is CauseShape.GONE]


def in_shop(*faults: Fault, claim: Claim = the_order_is_baked) -> Callable[[World], None]:
    """The shop, with these faults and that claim of its end."""

    def build(world: World) -> None:
        shop(world)
        world.allow(*faults)
        world.claim(quiescent(claim))

    return build


def test_who_is_waited_for_is_named_and_has_a_row() -> None:
    """Not who wrote last; though the crash is no part of what the last write rests on."""
    slice_, causes = told(in_shop(Crash("baker")), STRUCK)
    assert causes[0].text == (
        f"baker crashed (step {causes[0].step}) and was never started again; if it had lived, "
        "nothing would have broken."
    )
    rows = Rows(slice_.trace, slice_, Sentences(slice_)).shown((4, 4, 4))
    assert any(isinstance(row, Row) and row.text == "baker crashed" for row in rows)


def test_a_bystander_is_not_blamed() -> None:
    """Two are gone for good, and the order waits for one of them, whoever crashed first."""
    build = in_shop(Crash("baker"), Crash("guest"))
    for cues in ((STRUCK, "fault*crash guest"), ("fault*crash guest", STRUCK)):
        assert gone(told(build, *cues)[1]) == ["baker"]


def test_a_claim_may_wait_for_so_long_only() -> None:
    """It breaks when its time is over, whatever another does just then."""

    def build(world: World) -> None:
        shop(world)
        world.allow(Crash("baker"))
        world.claim(eventually(the_order_is_baked, within_ms=1500))

    assert gone(told(build, STRUCK)[1]) == ["baker"]


def never(_: Evidence) -> str:
    """Nothing is ever good enough."""
    return "notes/default/order is not good enough"


def test_who_could_not_have_helped_is_not_blamed() -> None:
    """The claim breaks just so when it lives."""
    assert not gone(told(in_shop(Crash("baker"), claim=never), STRUCK)[1])


def test_what_a_later_pick_broke_is_not_blamed_on_it() -> None:
    """With the crash and another pick the claim holds, so it was not waiting for the baker."""

    async def pick(client: Client) -> None:
        await client.sleep(1000, "look in")
        await client.create(note("noise", heard=client.pick("noise", ("none", "some"))))

    def is_quiet(see: Evidence) -> str | None:
        heard = incidents.notes_of(see)["noise"].data["heard"]
        return "notes/default/noise is heard" if heard == "some" else None

    def build(world: World) -> None:
        shop(world)
        world.start(Puppet("visitor", pick))
        world.allow(Crash("baker"))
        world.claim(quiescent(is_quiet))

    assert not gone(told(build, STRUCK, by=Last)[1])


@each_row(
    ("faults", "cues"),
    [
        ((Crash("baker", restart_after_ms=1),), (STRUCK,)),
        ((Crash("baker"), Restart("baker")), (STRUCK, "fault*restart baker")),
    ],
)
def test_who_came_back_is_not_gone(faults: tuple[Fault, ...], cues: tuple[str, ...]) -> None:
    """Whatever the next life does: here it gives the shop up."""

    async def bake_once(client: Client) -> None:
        if client.life == 1:
            await incidents.bake(client)

    def build(world: World) -> None:
        shop(world, bake_once)
        world.allow(*faults)
        world.claim(quiescent(the_order_is_baked))

    assert not gone(told(build, *cues)[1])


def test_what_broke_on_the_way_was_not_waited_for() -> None:
    """Somebody did it; that the baker would have been first is not why it is wrong."""

    def no_visits(see: Evidence) -> str | None:
        notes = incidents.notes_of(see)
        is_early = notes["visits"].data["times"] == "1" and not notes["order"].data["baked"]
        return "guest came, and notes/default/order is not baked" if is_early else None

    def build(world: World) -> None:
        shop(world)
        world.allow(Crash("baker"))
        world.claim(always(no_visits))

    assert not gone(told(build, STRUCK)[1])


def test_what_it_left_half_done_is_told_first() -> None:
    """That says what it had written, too."""

    async def bake_in_two(client: Client) -> None:
        order = await client.get(Note, "order")
        order = await client.update(order.saying(oven="on"))
        await client.update(order.saying(baked="yes"))

    def build(world: World) -> None:
        shop(world, bake_in_two)
        world.allow(Crash("baker"))
        world.claim(quiescent(the_order_is_baked))

    causes = told(build, "serve baker/main update*", STRUCK)[1]
    assert causes[0].shape is CauseShape.HALF_DONE
    assert causes[0].text.endswith("; it never came back.")
    assert gone(causes) == ["baker"]
