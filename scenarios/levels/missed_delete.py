"""Level 2, edge or level: a keeper acts on news alone, and one delete is never told to it."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed import Actor, ApiError, Client, Evidence, Expired, Invariant, Unavailable, World
from testbed.errors import ScenarioError
from testbed.invariant import TURN
from testbed.objects import Pod
from testbed.store.delivery import Delivery
from testbed.teaching.level import GuessFirst, LearnLevel, LevelTrial, RealIncident
from testbed.teaching.looks import EveryMoment, EveryOrder, FewDeviations, ManyOrders
from testbed.teaching.patience import AsksWithinReason
from testbed.teaching.seat import seat
from testbed.turns.trace import Step

KEEPER = seat("keeper")
MINUTE_MS = 60_000
ASKS_MAX = 40
"""How often the keeper may ask in a minute: enough to look every ten seconds, not every second."""
TURNS_MAX = 600
MARGIN_MS = 20_000
"""How much longer than a minute a Run goes on after the deletes."""


@attrs.frozen
class Keeper(Actor):
    """A keeper: creates each of its pods that is not there."""

    component = KEEPER

    names: tuple[str, ...] = ("web-1", "web-2", "web-3")
    """The names of the pods that it keeps."""

    def pod(self, name: str) -> Pod:
        """A pod of that name, to create."""
        return Pod.of(name, cpu_m=100)

    def same_pod(self, news: Delivery) -> Pod:
        """A pod of the name that this news is about, to create."""
        return self.pod(news.key.rpartition("/")[2])


class CarelessKeeper(Keeper):
    """Creates what is missing at the start, and then each pod of which it hears that it is gone."""

    async def run(self, client: Client) -> None:
        listing = await client.list(Pod)
        there = [pod.meta.name for pod in listing.items]
        for name in self.names:
            if name not in there:
                await client.create(self.pod(name))
        since = listing.revision
        while True:
            try:
                watch = await client.watch(Pod, since)
                while True:
                    news = await watch.next()
                    since = news.revision
                    if news.type == "DELETED":
                        await client.create(self.same_pod(news))
            except Unavailable:  # the watch broke: go on where it was
                continue
            except Expired:  # that is too long ago: go on from now
                since = (await client.list(Pod)).revision


@attrs.frozen
class PodRemover(Actor):
    """A user who deletes pods, one after the other, and looks at them once more."""

    names: tuple[str, ...] = ()
    at_ms: int = 5_000

    async def run(self, client: Client) -> None:
        """Wait, delete each, wait."""
        await client.sleep(self.at_ms, "delete pods")
        for name in self.names:
            while True:
                try:
                    await client.delete(Pod.of(name), whatever_it_was=True)
                    break
                except Unavailable:
                    await client.sleep(1_000, "retry")
                except ApiError:
                    break
        # A claim looks after a turn, and by then no other program may have a turn any more.
        await client.sleep(MINUTE_MS + MARGIN_MS // 2, "look")


def missed_delete(
    world: World,
    *,
    pods: str = "web-1,web-2,web-3",
    deletes: int = 1,
    missing: int = 0,
    at_ms: int = 5_000,
) -> None:
    """A keeper recreates each pod of which it hears that it is gone; of one delete it never hears.

    Cause: news is for those who listen; what happened while the watch was closed is not repeated.
    Look for: the list after which the keeper watches again, which has only two pods.
    Source: kubernetes#94437.
    Tags: stale-cache, silent.
    Kind: lesson.
    """
    names = tuple(pods.split(","))
    if not all(names) or len({*names}) < len(names):
        raise ScenarioError(f"pods={pods}: expected names, each once, with commas between")
    if not (0 <= deletes <= len(names) and 0 <= missing <= len(names)):
        raise ScenarioError(f"deletes={deletes}, missing={missing}: expected 0 to {len(names)}")
    world.add(*(Pod.of(name, cpu_m=100) for name in names[missing:]))
    world.start(CarelessKeeper("keeper", names))
    if deletes:
        world.start(PodRemover("ann", names[-deletes:], at_ms))
    world.claim(PodsComeBack(names, names[:missing]), AsksWithinReason(ASKS_MAX, MINUTE_MS))
    world.limit(turns_max=TURNS_MAX, virtual_ms_max=at_ms + MINUTE_MS + MARGIN_MS)


class PodsComeBack(Invariant):
    """No pod is missing for more than a minute, not counting what a fault has cost."""

    name = "every_pod_comes_back"
    reads = frozenset()  # in which order pods come and go within an instant does not matter to it
    looks_at: ClassVar[frozenset[str]] = frozenset({TURN})

    def __init__(self, names: tuple[str, ...], missing: tuple[str, ...]) -> None:
        self._names = names
        self._since_ms: dict[str, int] = dict.fromkeys(missing, 0)
        """Since when a pod is missing; not of those that are there."""

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        late = [name for name in self._since_ms if self._is_late(name, evidence)]
        for change in evidence.changes:
            name = change.key.rpartition("/")[2]
            if name in self._names and change.new is not None:
                self._since_ms.pop(name, None)
            elif name in self._names:
                self._since_ms[name] = evidence.now_ms
        return _told(late) if late else None

    def _is_late(self, name: str, evidence: Evidence) -> bool:
        since_ms = max(self._since_ms[name], evidence.last_fault_ms)
        return evidence.now_ms > since_ms + MINUTE_MS

    def end(self, evidence: Evidence) -> str | None:
        there = [entry.key.rpartition("/")[2] for entry in evidence.store.snapshot("pods/")]
        missing = [name for name in self._names if name not in there]
        return _told(missing) if missing else None


def _told(missing: list[str]) -> str:
    named = " and ".join(sorted(missing))
    if len(missing) > 1:
        return f"{named} are gone, and nothing brings them back"
    return f"{named} is gone, and nothing brings it back"


LEVEL = LearnLevel(
    number=2,
    title="edge or level",
    concept=(
        "An edge is a change: a pod was deleted. A level is how things are: two pods of three. A "
        "watch tells of edges, a list shows the level. Kubernetes controllers compare what is "
        "with what should be, and take news only as a reason to look."
    ),
    build=missed_delete,
    component=KEEPER,
    base=Keeper,
    careless=CarelessKeeper,
    asked=(
        "A keeper has pods with the names `self.names`. If one is deleted, the keeper must create "
        "it again within a minute. Its watch may break at any time, the store may forget its "
        "history, and the keeper may crash and start again without memory. It may ask at most "
        "forty times a minute: so it cannot just look every second. Mend `run`."
    ),
    calls=(
        "`client.list(Pod)` gives `items` and the `revision` at which they were listed. "
        "`client.watch(Pod, revision)` gives what has changed since then: `await watch.next()` "
        "has a `type` (ADDED, MODIFIED, DELETED) and a `revision`, and `self.same_pod(news)` is a "
        "pod of the name it is about. It raises Unavailable when the watch breaks. Expired says "
        "that the history since that revision is forgotten. `client.create` raises AlreadyExists "
        "(in `testbed.errors`) if the pod is there. No request is lost at this level: `list` and "
        "`create` do not raise Unavailable."
    ),
    imports="""\
from scenarios.levels.missed_delete import Keeper
from testbed import Client, Expired, Unavailable
from testbed.objects import Pod
""",
    guess=GuessFirst(
        question=(
            "A watch breaks, a pod is deleted, the store forgets its history, and the keeper "
            "lists the pods and watches from there. Is it told of the delete?"
        ),
        choices=(
            "yes, as the first news of the new watch",
            "no, never",
            "yes, but only after a while",
            "only if it had seen the pod before",
        ),
        answer=2,
        why=(
            "A watch tells what has changed since a revision, and the list is newer than the "
            "delete. The list shows that the pod is missing, but only to a program that looks."
        ),
    ),
    hints=(
        "After Expired, the code takes the revision of the list and throws its items away.",
        "What it does at the start, list and create what is missing, is right at any time.",
        "Move the list and the loop over `self.names` into the `while True:`, before the watch.",
        "Then each error of the watch may simply lead back there: "
        "`except (Expired, Unavailable): continue`.",
    ),
    words={
        "edge": "A change: something was created, written or deleted.",
        "level": "How things are now.",
        "list": "To get all pods as they are now, with the revision of that.",
        "watch": "To be told of each change after a revision.",
        "news": "One change, as a watch tells it.",
        "break": "Of a watch: it ends, and its reader is told so.",
        "revision": "The number of a write; also written rv.",
        "history": "All changes that the store remembers, from an oldest revision on.",
        "compacted": "Of a history: the older part was forgotten.",
        "Expired": "The refusal of a watch since a revision that is forgotten.",
        "Unavailable": "The error when no answer came, or a watch broke.",
        "keeper": "A small controller that keeps pods there.",
    },
    incident=RealIncident(
        said=(
            "A scheduler that had missed the delete of a node went on to bind pods to it; they "
            "were stuck, their controller replaced them, and the next ones went there, too. The "
            "answer in the thread is the one of this level: to list again repairs it."
        ),
        link="https://github.com/kubernetes/kubernetes/issues/94437",
    ),
    trials=(
        LevelTrial(
            name="a pod is deleted, and a watch breaks",
            look=EveryOrder(runs_max=200, random_max=40),
            faults=("break_watch", "compact"),
            runs_out=True,
        ),
        LevelTrial(
            name="two pods are deleted, a watch breaks, the history is compacted",
            look=FewDeviations(deviations_max=0, faults_max=2, runs_max=400),
            switches={"deletes": 2},
            faults=("break_watch", "compact"),
            runs_out=True,
        ),
        LevelTrial(
            name="the same, and the watch breaks twice",
            look=ManyOrders(40, has_late=False),
            switches={"deletes": 2},
            faults=("2*break_watch", "compact"),
            runs_out=True,
        ),
        LevelTrial(
            name="the watch breaks three times",
            look=FewDeviations(deviations_max=0, faults_max=3, runs_max=150),
            faults=("3*break_watch",),
            runs_out=True,
        ),
        LevelTrial(
            name="the keeper crashes",
            look=EveryMoment("crash:keeper,restart=2s"),
            switches={"deletes": 2, "missing": 1},
            runs_out=True,
        ),
        LevelTrial(
            name="other names and numbers, and a watch breaks",
            look=FewDeviations(deviations_max=0, faults_max=1, runs_max=100),
            faults=("break_watch",),
            is_varied=True,
            runs_out=True,
        ),
    ),
    varied={
        "pods": ("db-a,db-b", "n1,n2,n3,n4", "cart,shop,till", "web-3,web-7"),
        "deletes": (1, 2),
        "missing": (0, 1),
        "at_ms": (3_000, 8_000, 21_000),
    },
)
