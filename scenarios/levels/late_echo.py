"""Level 3, the late echo: a controller does not see yet what it has created, and creates again."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from actors.apiserver import ApiServer
from testbed import Actor, ApiError, Cache, Client, Evidence, Invariant, World, always
from testbed.errors import ScenarioError
from testbed.invariant import TURN
from testbed.objects import Meta, Pod
from testbed.teaching.level import GuessFirst, LearnLevel, LevelTrial, RealIncident
from testbed.teaching.looks import EveryMoment, EveryOrder, ManyOrders
from testbed.teaching.patience import AsksWithinReason
from testbed.teaching.seat import seat
from testbed.turns.trace import Step
from testbed.words import counted

CONTROLLER = seat("controller")
WANT_MAX = 5
ASKS_MAX = 50
"""How often the controller may ask in ten seconds."""
TURNS_MAX = 800
"""In one instant; more than all programs together may take."""
DELETED_AT_MS = 20_000
"""When ann deletes a pod."""
MISSING_MS_MAX = 30_000
"""How long there may be too few pods."""
VIRTUAL_MS_MAX = 60_000
"""A controller that asks again and again never rests: its Run is over after a minute."""


@attrs.frozen
class Controller(Actor):
    """A controller: keeps `want` pods of an app, no fewer and never more."""

    component = CONTROLLER

    app: str = "web"
    """The app; the names of its pods begin so."""
    want: int = 2
    """How many pods there are to be."""

    def pod(self, name: str = "") -> Pod:
        """A pod of the app, to create. Without a name, the API server gives it a new one."""
        meta = Meta(name, "default", generate_name="" if name else f"{self.app}-")
        return Pod(meta, spec=Pod.of("", cpu_m=100).spec)


class CarelessController(Controller):
    """Creates as many pods as its Cache has too few."""

    async def run(self, client: Client) -> None:
        news = client.queue("news", idle=True)
        pods = Cache(client, Pod)
        pods.on(add=news.put, delete=news.put)
        await pods.synced()
        while True:
            for _ in range(self.want - len(pods.all())):
                await client.create(self.pod())
            await news.get()


@attrs.frozen
class PodDeleter(Actor):
    """A user who deletes one pod, once."""

    async def run(self, client: Client) -> None:
        """Wait, look, delete the first pod."""
        await client.sleep(DELETED_AT_MS, "delete a pod")
        while True:
            try:
                listing = await client.list(Pod)
                if listing.items:
                    await client.delete(listing.items[0], whatever_it_was=True)
                return
            except ApiError:
                await client.sleep(1_000, "retry")


def late_echo(
    world: World,
    *,
    app: str = "web",
    want: int = 2,
    deletes: bool = False,
    create_takes_ms: int = 0,
) -> None:
    """A controller counts the pods in its Cache, which lacks its own creates, and creates more.

    Cause: the news of a create comes to the Cache later than the answer to it.
    Look for: the create that follows the news of only one pod.
    Source: kuberay#715; kubernetes PR#6866, which added the expectations.
    Tags: stale-cache.
    """
    if not 1 <= want <= WANT_MAX:
        raise ScenarioError(f"want={want}: expected 1 to {WANT_MAX}\nNext: --switch want=2")
    world.serve(ApiServer)
    world.start(CarelessController("controller", app, want))
    if deletes:
        world.start(PodDeleter("ann"))
    if create_takes_ms:
        world.latency("create pods", actor="controller", serve_ms=create_takes_ms)

    def never_more_pods_than_wanted(see: Evidence) -> str | None:
        found = _names(see)
        if len(found) <= want:
            return None
        return f"{app} wants {counted(want, 'pod')} and has {len(found)}: {', '.join(found)}"

    world.claim(
        always(never_more_pods_than_wanted, reads=("log:pods",)),
        SoonEnoughPods(app, want),
        AsksWithinReason(ASKS_MAX, 10_000),
    )
    world.limit(instant_turns_max=TURNS_MAX, virtual_ms_max=VIRTUAL_MS_MAX)


class SoonEnoughPods(Invariant):
    """There are too few pods for half a minute at most, not counting what a fault has cost."""

    name = "soon_as_many_pods_as_wanted"
    reads = frozenset()  # in which order pods come within one instant does not matter to it
    looks_at: ClassVar[frozenset[str]] = frozenset({TURN})

    def __init__(self, app: str, want: int) -> None:
        self._app = app
        self._want = want
        self._has = 0
        self._since_ms: int | None = 0
        """Since when there are too few; None if there are enough."""

    def look(self, step: Step | None, evidence: Evidence) -> str | None:
        late = self._wrong("for too long") if self._is_late(evidence) else None
        if evidence.changes:
            self._has = len(_names(evidence))
            if self._has >= self._want:
                self._since_ms = None
            elif self._since_ms is None:
                self._since_ms = evidence.now_ms
        return late

    def end(self, evidence: Evidence) -> str | None:
        return None if self._since_ms is None else self._wrong("in the end")

    def _is_late(self, evidence: Evidence) -> bool:
        if self._since_ms is None:
            return False
        since_ms = max(self._since_ms, evidence.last_fault_ms)
        return evidence.now_ms > since_ms + MISSING_MS_MAX

    def _wrong(self, when: str) -> str:
        wants = counted(self._want, "pod")
        return f"{self._app} wants {wants} and has {self._has or 'none'} {when}"


def _names(see: Evidence) -> list[str]:
    """The names of all pods."""
    pods: list[Any] = [entry.value for entry in see.store.snapshot("pods/")]
    return [pod.meta.name for pod in pods]


LEVEL = LearnLevel(
    number=3,
    title="the late echo",
    concept=(
        "A program that has created an object does not see it in its Cache at once: the news of "
        "its own write comes by the watch, like any other news, and may be late. A program that "
        "counts what the Cache holds and creates the rest may create it twice."
    ),
    build=late_echo,
    component=CONTROLLER,
    base=Controller,
    careless=CarelessController,
    asked=(
        "A controller keeps `self.want` pods of the app `self.app`. There must never be more than "
        "that, not for a moment; and within half a minute there must be as many, also after a "
        "user has deleted one. The news may be late, a request or its answer may be lost, and the "
        "controller may crash at any time: then `run` begins again with empty memory, while what "
        "it has asked for may still be under way, for as long as it likes. Mend `run`."
    ),
    calls=(
        "`self.pod(name)` is a pod with that name, and `client.create` raises AlreadyExists if the "
        "name is taken (in `testbed.errors`). `pods.get(name)` looks into the Cache, and "
        "`client.get(Pod, name)` asks the API server, and raises NotFound. `await news.get()` "
        "waits for the next pod that the Cache has heard of, and returns it; `idle=True` says "
        "that this may last for ever. Unavailable (in `testbed`) says that no answer came: "
        "any request may raise it, `client.list`, too; `pods.synced()` does not, since the Cache "
        "asks again by itself. `await client.sleep(ms)` waits; a program that asks more than "
        "fifty times in ten seconds is refused."
    ),
    imports="""\
from scenarios.levels.late_echo import Controller
from testbed import Cache, Client
from testbed.objects import Pod
""",
    guess=GuessFirst(
        question="It wants 2 pods and creates 2. How many pods can there be in the end?",
        choices=("always 2", "2 or 3", "2, 3 or 4"),
        answer=2,
        why=(
            "After its two creates, it may hear of the first pod alone. Its Cache holds one, so it "
            "creates one more. If it wants three, it can come to six: it creates three, two more "
            "when it has heard of one, and one more when it has heard of two."
        ),
    ),
    hints=(
        "Which create is one too many, and what did the Cache show when it was sent?",
        "To count your own creates in a variable helps until a crash: the next life knows nothing "
        "of a create that is still under way. What could make that create harmless?",
        "Only the API server knows everything, and it refuses a name that is taken. Let each of "
        "the `self.want` places have one name, always the same: web-0, web-1.",
        "Whenever there is news, and once at the start: for each place, if `pods.get(name)` is "
        "None, create `self.pod(name)`. AlreadyExists means that it is there: go on. After "
        "Unavailable, sleep a little and go through all places again.",
    ),
    words={
        "pod": "What the controller creates; no node matters here.",
        "controller": "A program that makes what is there into what is wanted.",
        "Cache": "What a program knows of all pods: a list, kept up to date by a watch.",
        "watch": "The stream of news from the API server to one program.",
        "news": "One change of one pod, as a watch tells it. In order, but perhaps late.",
        "create": "To ask the API server for a new object.",
        "lost": "Of a request: it never arrives. Of an answer: all was done, and the caller is "
        "not told.",
        "Unavailable": "The error when no answer came.",
        "AlreadyExists": "The refusal of a create: the name is taken.",
        "crash": "The end of a program between two of its steps; its memory is gone.",
        "life": "The time from the start of a program to its crash.",
        "under way": "Of a request: sent, and not yet done.",
    },
    incident=RealIncident(
        said=(
            "The operator of Ray clusters counted the pods in its informer's cache, which was "
            "often late: it started more pods than were wanted, and then deleted some, whatever "
            "work they did. Kubernetes' ReplicaSet controller waits for the news of its own "
            "creates, which it calls expectations; a StatefulSet numbers its pods."
        ),
        link="https://github.com/ray-project/kuberay/issues/715",
    ),
    trials=(
        LevelTrial(name="two pods", look=EveryOrder(100, 20), runs_out=True),
        LevelTrial(
            name="a user deletes one",
            look=EveryOrder(80, 20),
            switches={"deletes": True},
            runs_out=True,
        ),
        LevelTrial(
            name="the news comes 15 s late",
            look=ManyOrders(40),
            switches={"deletes": True},
            faults=("lag:controller,by=15s,for=60s",),
            runs_out=True,
        ),
        LevelTrial(
            name="one pod, and a request is lost",
            look=EveryMoment("lose_request:controller"),
            switches={"want": 1},
            runs_out=True,
        ),
        LevelTrial(
            name="a create takes 10 s, and the controller crashes",
            look=EveryMoment("crash:controller,restart=2s"),
            switches={"create_takes_ms": 10_000},
            runs_out=True,
        ),
        LevelTrial(
            name="an answer is lost",
            look=EveryOrder(150, 20),
            faults=("lose_reply:controller",),
            runs_out=True,
        ),
        LevelTrial(
            name="one pod, and the controller crashes and is back at once",
            look=EveryOrder(80, 20),
            switches={"want": 1},
            faults=("crash:controller,restart=0s",),
            runs_out=True,
        ),
        LevelTrial(
            name="other names and numbers",
            look=EveryOrder(60, 20),
            is_varied=True,
            runs_out=True,
        ),
    ),
    varied={
        "app": ("shop", "mail", "db", "front"),
        "want": (1, 2, 3),
        "deletes": (False, True),
    },
)
