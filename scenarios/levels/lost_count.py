"""Level 1, the lost update: clerks count one stock, and a delivery is counted by none."""

from __future__ import annotations

import attrs

from testbed import Actor, Client, Evidence, World, quiescent
from testbed.errors import ScenarioError
from testbed.objects import Map, Note
from testbed.teaching.level import GuessFirst, LearnLevel, LevelTrial, RealIncident
from testbed.teaching.looks import EveryOrder, ManyOrders
from testbed.teaching.patience import AsksWithinReason
from testbed.teaching.seat import seat

CLERK = seat("clerk")
ASKS_MAX, MINUTE_MS = 60, 60_000
"""How often one clerk may ask in a minute."""
TURNS_MAX, END_MS = 600, 5 * MINUTE_MS
"""Where a Run ends if its clerks go on and on."""


@attrs.frozen
class Clerk(Actor):
    """A clerk: adds each of its deliveries, one unit each, to the count of the stock."""

    component = CLERK

    stock: str = "stock"
    """The name of the Note that has the count."""
    deliveries: int = 2
    """How many units it has to count, one by one."""


class CarelessClerk(Clerk):
    """Counts its deliveries: reads the count, and writes one more."""

    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            note = await client.get(Note, self.stock)
            count = int(note.data["count"])
            counted = note.saying(count=str(count + 1), last=self.name)
            await client.update(counted, whatever_it_was=True)


def lost_count(
    world: World,
    *,
    names: str = "alpha,beta",
    stock: str = "stock",
    begins_with: int = 7,
    deliveries: int = 2,
) -> None:
    """Clerks count deliveries on one Note by read and write back; one delivery is lost.

    Cause: an update without a resourceVersion overwrites what was written since the read.
    Look for: two clerks that read the same count.
    Source: none; a classic.
    Tags: check-then-act, silent.
    Kind: lesson.
    """
    clerks = names.split(",")
    if not all(clerks) or len({*clerks}) < len(clerks):
        raise ScenarioError(f"names={names}: expected names, each once, with commas between")
    world.add(Note(stock, data=Map(count=str(begins_with))))
    for name in clerks:
        world.start(CarelessClerk(name, stock, deliveries))
    total = begins_with + len(clerks) * deliveries

    def every_delivery_is_counted(see: Evidence) -> str | None:
        entry = see.store.peek(f"notes/default/{stock}")
        note = entry.value if entry is not None else None
        if not isinstance(note, Note):
            return f"the note {stock} is gone"
        said = note.data.get("count", "nothing")
        if said == str(total):
            return None
        return f"{stock} had {begins_with}, {len(clerks) * deliveries} came, and it says {said}"

    world.claim(quiescent(every_delivery_is_counted, reads=()))
    world.claim(AsksWithinReason(ASKS_MAX, MINUTE_MS))
    world.limit(turns_max=TURNS_MAX, virtual_ms_max=END_MS)


LEVEL = LearnLevel(
    number=1,
    title="the lost update",
    concept=(
        "A program that reads, thinks and writes has acted on what was there when it read. If "
        "another program wrote in between, a blind write wipes that out. Kubernetes does not lock: "
        "it gives each object a resourceVersion, and refuses an update of an older one."
    ),
    build=lost_count,
    component=CLERK,
    base=Clerk,
    careless=CarelessClerk,
    asked=(
        "Several clerks count deliveries on one Note. Each clerk adds one to its count for each "
        "of `self.deliveries`. In the end the Note must have counted every delivery of every "
        "clerk, once. The clerks may go in any order, and a request may be lost on its way: then "
        "it raises Unavailable and has changed nothing. Mend `run`."
    ),
    calls=(
        "You need `client.get` and `client.update`. `update` without `whatever_it_was` raises "
        "Conflict if the Note has changed since it was read. Both errors are in `testbed`."
    ),
    imports="""\
from scenarios.levels.lost_count import Clerk
from testbed import Client
from testbed.objects import Note
""",
    guess=GuessFirst(
        question="The stock has 7. Two clerks each count 2 deliveries. What may it say in the end?",
        choices=("11 in any case", "9, 10 or 11", "only 9 or 11", "8 or more"),
        answer=2,
        why=(
            "If a clerk writes what it read before the other wrote, one delivery is lost, and at "
            "worst two are. No error is shown anywhere."
        ),
    ),
    hints=(
        "Two clerks read the same count. Which of the two writes should be refused?",
        "Leave out `whatever_it_was`: the update then carries the revision of the read, and raises "
        "Conflict if the Note is newer.",
        "After a Conflict, what you have read is old. Read again, add to that count, write it.",
        "Put the read and the write in a `while True:` with `try`, `break` behind the update, and "
        "`except (Conflict, Unavailable): continue`.",
    ),
    words={
        "Note": "A small object with a few named texts, like a ConfigMap.",
        "read": "To get an object as it is now.",
        "write": "To update an object.",
        "revision": "The number of the last write; also written rv. Kubernetes calls it "
        "resourceVersion.",
        "Conflict": "The refusal of an update of an object that has changed since it was read.",
        "Unavailable": "The error when no answer came.",
        "lost": "Overwritten by a write that had not seen it; of a request: it never arrived.",
        "clerk": "A program that counts deliveries.",
        "delivery": "One unit to be counted, once.",
        "order": "Who moves first, and who next.",
    },
    incident=RealIncident(
        said=(
            "In Kubermatic, controllers put their names into one list of a Cluster, its "
            "finalizers, and some went missing. As the thread explains it, each read the list, "
            "and sent a whole new one without the resourceVersion that it had read. The answer "
            "was to send it, so that such a write is refused."
        ),
        link="https://github.com/kubermatic/kubermatic/issues/6759",
    ),
    trials=(
        LevelTrial(name="two clerks, two deliveries each", look=EveryOrder()),
        LevelTrial(
            name="the same, and one request is lost", look=EveryOrder(), faults=("lose_request",)
        ),
        LevelTrial(
            name="one delivery each, and one clerk stalls",
            look=EveryOrder(),
            switches={"deliveries": 1},
            faults=("stall",),
        ),
        LevelTrial(
            name="three clerks", look=ManyOrders(60), switches={"names": "alpha,beta,gamma"}
        ),
        LevelTrial(
            name="other names and numbers",
            look=EveryOrder(runs_max=300, random_max=50),
            is_varied=True,
        ),
    ),
    varied={
        "names": ("anna,bert", "delta,gamma", "north,south", "x1,x2"),
        "stock": ("shelf", "bin-7", "tally", "depot"),
        "begins_with": (0, 3, 40, 998),
        "deliveries": (1, 2),
    },
)
