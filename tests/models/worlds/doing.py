"""What a task of a drawn World has in hand, and how it does one action after another."""

from __future__ import annotations

import operator
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import attrs

from testbed.client.cache import Cache
from testbed.client.client import Client, Task
from testbed.client.stream import Stream
from testbed.errors import ApiError
from testbed.objects import Lease, LeaseSpec, Map, Node, Note, Object, Pod, Revision
from testbed.objects.labels import Requirement
from testbed.objects.meta import Numbered
from testbed.store.selector import Selector
from testbed.turns.timers import Alarm
from testbed.turns.waits import Queue, Signal

Action = tuple[str, dict[str, Any]]
"""A word and what it is given: `("get", {"name": "x"})`; plain data, so its repr can be pasted."""
Doing = Callable[..., Coroutine[Any, Any, object]]
WORDS: dict[str, Doing] = {}
"""What each word does. It returns what the task has seen, which is recorded."""
F = TypeVar("F", bound=Doing)

KINDS: dict[str, type[Object]] = {"note": Note, "lease": Lease, "pod": Pod, "node": Node}
SELECTORS: dict[str, dict[str, Any]] = {
    "all": {},
    "x": {"name": "x"},
    "within": {"namespace": "default"},
    "elsewhere": {"namespace": "elsewhere"},
    "red": {"labels": (Requirement("hue", "In", ("red",)),)},
    "hers": {"fields": (("data.by", "a"),)},
    "not hers": {"unlike": (("data.by", "a"),)},
}
"""What a list, a watch or a Cache may ask for."""


def selecting(word: str) -> Selector:
    """The Selector of that word."""
    return Selector(**SELECTORS[word])


def does(word: str) -> Callable[[F], F]:
    """This function is what that word does."""

    def register(fn: F) -> F:
        WORDS[word] = fn
        return fn

    return register


@attrs.define
class Shared:
    """What the tasks of one life share: Caches, queues, signals and an alarm, which say who looks
    at them; and what no Footprint tells of, for actors that do not say that they share none."""

    client: Client
    caches: dict[str, Cache[Any]] = attrs.Factory(dict)
    queues: dict[str, Queue] = attrs.Factory(dict)
    signals: dict[str, Signal] = attrs.Factory(dict)
    alarms: dict[str, Alarm] = attrs.Factory(dict)
    hidden: list[str] = attrs.Factory(list)
    counts: dict[str, int] = attrs.Factory(dict)

    def queue(self, name: str) -> Queue:
        """The queue of that name; `idle` is one for which to wait is no deadlock."""
        if name not in self.queues:
            self.queues[name] = self.client.queue(name, idle=name == "idle")
        return self.queues[name]

    def signal(self, name: str) -> Signal:
        """The signal of that name."""
        if name not in self.signals:
            self.signals[name] = self.client.signal(name)
        return self.signals[name]

    def alarm(self, name: str) -> Alarm:
        """The alarm of that name."""
        if name not in self.alarms:
            self.alarms[name] = self.client.alarm(name, idle=False)
        return self.alarms[name]


class Desk:
    """What one task has in hand. All that it has seen is its own, so an actor that says its tasks
    share no memory says the truth."""

    def __init__(self, client: Client, shared: Shared, task: str) -> None:
        self.client = client
        self.shared = shared
        self.task = task
        self.seen: list[Any] = []
        """The objects that it got, in order."""
        self.revisions: list[Revision] = []
        """The revisions that it was told, in order."""
        self.tasks: list[Task] = []
        self.stream: Stream | None = None
        self.more: str | Numbered = ""
        """Where the next page of its last list begins."""
        self.error: ApiError | None = None
        """The last refusal."""
        self.number: Any = None
        """What it was given for its last Record."""

    @property
    def is_main(self) -> bool:
        """Whether it is the first task of its life."""
        return self.task == "main"

    async def do(self, actions: tuple[Action, ...]) -> str:
        """One action after another; what each comes to is recorded, and its words are returned."""
        for word, given in actions:
            try:
                said = await WORDS[word](self, **given)
            except ApiError as error:
                self.error, said = error, error.reason
            if word not in SILENT:
                self.client.record(word, said=str(said))
        return self.task

    def saw(self, item: Any) -> str:
        """It got this object; what it says, without its revision."""
        self.seen.append(item)
        if isinstance(item, Object):
            self.told(item.meta.revision)
        return said_by(item)

    def told(self, revision: Revision) -> None:
        """It was told this revision."""
        self.revisions.append(revision)

    def at(self, which: str) -> Revision:
        """A revision to read at, or to write over."""
        match which:
            case "last" if self.revisions:
                return self.revisions[-1]
            case "first" if self.revisions:
                return self.revisions[0]
            case "text" if self.revisions:
                return Revision(str(self.revisions[-1]))
            case "any":
                return Revision("0")
            case "early":
                return Revision("3")
            case "future":
                return Revision("99")
        return Revision()

    def because(self, linked: bool) -> dict[str, Any]:
        """What it asks follows from its last Record, if that is so."""
        return {"because": self.number} if linked and self.number is not None else {}


SILENT = frozenset({"nothing", "pass"})
"""Words after which nothing is recorded."""


def made(kind: str, name: str, by: str, labels: dict[str, str] | None = None) -> Any:
    """An object that says by what task it was written."""
    item: Object
    if kind == "note":
        item = Note(name, data=Map(by=by))
    elif kind == "lease":
        item = Lease(name, spec=LeaseSpec(holder=by))
    elif kind == "pod":
        return Pod.of(name, cpu_m=100, labels={"hue": by, **(labels or {})})
    else:
        item = Node.of(name)
    return item.with_meta(labels=labels) if labels else item


def saying(item: Any, by: str) -> Any:
    """A copy that says by what task it was written."""
    if isinstance(item, Note):
        return item.saying(by=by)
    if isinstance(item, Lease):
        return attrs.evolve(item, spec=attrs.evolve(item.spec, holder=by))
    return item.with_meta(labels={**item.meta.labels, "hue": by})


def said_by(item: Any) -> str:
    """All that an object says, but for its revision."""
    if not isinstance(item, Object):
        return repr(item)
    plain = item.with_meta(revision=Revision())
    fields = [f.name for f in attrs.fields(type(plain)) if f.name not in ("meta", "extra")]
    meta = plain.meta
    said = {name: getattr(plain, name) for name in fields} if not isinstance(item, Pod) else {
        "node": item.spec.node_name, "phase": item.status.phase,
    }  # fmt: skip
    more = {name: getattr(meta, name) for name in ("uid", "labels", "deleted_ms", "finalizers")}
    return f"{item.key} {said} { {name: held for name, held in more.items() if held} }"


ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
