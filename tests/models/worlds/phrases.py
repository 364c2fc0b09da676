"""Phrases: what drawn actors do, a few actions that belong together, theme by theme.

Two actors that draw from the same one or two themes are likely to touch the same things.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

from tests.models.worlds.doing import Action

T = TypeVar("T")


class Draw:
    """The draws for one World, a function of its number. Only `getrandbits` is used, since the
    other methods may change from one Python to the next."""

    def __init__(self, number: int) -> None:
        self._bits = Random(f"drawn World {number}").getrandbits

    def below(self, n: int) -> int:
        """A number below n."""
        return (self._bits(32) * n) >> 32

    def one(self, *items: T) -> T:
        """One of these."""
        return items[self.below(len(items))]

    def of(self, items: Sequence[T]) -> T:
        """One of these."""
        return items[self.below(len(items))]

    def in_(self, n: int) -> bool:
        """True, once in n times."""
        return self.below(n) == 0


Phrase = tuple[Action, ...]
Drawer = Callable[[Draw], Phrase]


def _act(word: str, **given: Any) -> Action:
    return word, given


def _name(draw: Draw) -> str:
    return draw.one("x", "x", "x", "y")


def _kind(draw: Draw) -> str:
    return draw.one("note", "note", "lease")


def _timeout(draw: Draw) -> int | None:
    return draw.one(None, None, None, 3, 12)


def _looks(draw: Draw) -> Phrase:
    """A look at what was told last; often none."""
    return draw.one(
        (),
        (),
        (("same", {"how": draw.one("==", "==", "!=", "in", "set", "<", "<=", ">", ">=")}),),
        (("text", {"how": draw.one("str", "repr", "text", "bool", "more")}),),
        (("known as", {"to": draw.one("early", "first", "text", "future")}),),
        (("alike", {"how": draw.one("==", "is_as", "set")}),),
        (("whole", {}),),
        (("age", {}),),
        (("error", {"what": draw.one("text", "text", "causes", "later", "code")}),),
    )


# -- what is asked of the Store --------------------------------------------------------------------


def read(draw: Draw) -> Phrase:
    """A get."""
    given = {"kind": _kind(draw), "name": _name(draw), "timeout": _timeout(draw)}
    if draw.in_(8):
        given["within"] = "elsewhere"
    return (("get", given), *_looks(draw))


def write(draw: Draw) -> Phrase:
    """A create, an update or a delete, of what was read or of whatever it is."""
    kind, name, timeout = _kind(draw), _name(draw), _timeout(draw)
    given = {"kind": kind, "name": name, "timeout": timeout}
    match draw.below(6):
        case 0 | 1:
            labels = draw.one(None, {"hue": "red"}, {"hue": "blue"})
            return (("create", {**given, "labels": labels}), *_looks(draw))
        case 2:
            return (("update", {**given, "over": draw.one("blind", "whatever")}), *_looks(draw))
        case 3:
            return (("update", {**given, "over": draw.one("last", "early", "text")}), *_looks(draw))
        case 4:
            over = draw.one("whatever", "seen", "blind")
            return (("delete", {**given, "over": over}), *_looks(draw))
    return (("swap", {"kind": kind, "name": name}), *_looks(draw))


def rewrite(draw: Draw) -> Phrase:
    """A read, a look, and a write of what was read."""
    kind, name = _kind(draw), _name(draw)
    act = _act(draw.one("update", "delete"), kind=kind, name=name, over="seen")
    return (("get", {"kind": kind, "name": name}), act, *_looks(draw))


def listed(draw: Draw) -> Phrase:
    """A list, and often another one to compare it with."""
    given = {
        "kind": _kind(draw), "timeout": _timeout(draw),
        "selector": draw.one("all", "all", "x", "within", "elsewhere", "red", "hers", "not hers"),
        "fields": draw.one((), (), ("data.by",), ("meta.labels",)),
    }  # fmt: skip
    again: Phrase = draw.one(
        (), (_act("list", **{**given, "fields": ()}),), (_act("get", name="x"),)
    )
    return (("list", given), *again, *_looks(draw))


def past(draw: Draw) -> Phrase:
    """Something told a revision; a read there, or a compaction."""
    begin = draw.one(_act("list", kind=_kind(draw)), _act("get", name="x"))
    at = draw.one("last", "last", "first", "text", "early", "future", "any")
    then = draw.one(
        _act("get", name=_name(draw), at=at),
        _act("list", at=at, match=draw.one("", "Exact", "NotOlderThan")),
        _act("list", at=at, limit=1),
        _act("open", since=at),
        _act("compact", at=at),
    )
    return (begin, then, *_looks(draw))


def watched(draw: Draw) -> Phrase:
    """A watch from a list or from nowhere, and what it tells."""
    kind = _kind(draw)
    given = {
        "kind": kind, "timeout": _timeout(draw), "bookmarks": draw.in_(2),
        "selector": draw.one("all", "all", "x", "red", "hers", "not hers", "within"),
        "fields": draw.one((), (), ("data.by",)),
        "since": draw.one("last", "last", "last", "any", "", "early", "text"),
    }  # fmt: skip
    hearing: Phrase = draw.one(
        (("next", {"wait": draw.one(5, 20)}),),
        (("hear", {}),),
        (("close", {}), ("hear", {})),
        (("hear", {}), ("same", {})),
    )
    start: Phrase = (("list", {"kind": kind}),) if given["since"] in ("last", "text") else ()
    return (*start, ("open", given), *hearing, *_looks(draw))


def transacted(draw: Draw) -> Phrase:
    """Two notes at once."""
    begin: Phrase = draw.one((), (("get", {"name": "x"}),))
    over = draw.one("blind", "last")
    names = draw.one(("x", "y"), ("x",), ("y", "x"))
    return (*begin, ("txn", {"names": names, "over": over}), *_looks(draw))


# -- Caches ----------------------------------------------------------------------------------------

WAYS_TO_ASK = (
    "all", "get", "items", "known", "has synced", "revision", "upto", "itself", "reader",
)  # fmt: skip


def cached(draw: Draw) -> Phrase:
    """A Cache, and a look at it."""
    kind = _kind(draw)
    given = {
        "kind": kind, "quorum": draw.in_(3), "waits": not draw.in_(3),
        "selector": draw.one("all", "all", "all", "x", "red", "hers"),
        "reads": draw.one(None, None, None, (), ("data.by",), ("meta.labels",)),
        "hears": draw.one("", "", "add", "update", "delete", "all", "queue", "look"),
    }  # fmt: skip
    return (("cache", given), *_asked(draw, kind), *_asked(draw, kind))


def _asked(draw: Draw, kind: str) -> Phrase:
    look: Action = ("cached", {"kind": kind, "how": draw.of(WAYS_TO_ASK), "name": _name(draw)})
    return draw.one(
        (look,),
        (look,),
        (look, *_looks(draw)),
        (("sleep", {}), look),
        (("take", {"queue": "idle"}),),
        (("write back", {"kind": kind}),),
        (("synced", {"kind": kind}), look),
        (),
    )


# -- tasks, signals, queues, alarms, time ----------------------------------------------------------


def spawned(draw: Draw) -> Phrase:
    """A task that does a little, and what is done about it."""
    name = draw.one("v", "w")
    inner = draw.one(read, write, waits, queued, rung, bit, bit)(draw)[:2]
    if draw.in_(4):
        inner = (("unwind", {"actions": inner, "last": draw.one("put", "set")}),)
    then: Phrase = draw.one(
        (("join", {}),),
        (("cancel", {}),),
        (("ended", {}),),
        (("cancel", {}), ("join", {})),
        (("first", {"waits": ("sleep",)}),),
        (),
    )
    return (("spawn", {"name": name, "actions": inner}), *then)


def waits(draw: Draw) -> Phrase:
    """A signal."""
    return draw.one(
        (("set", {}),),
        (("set", {}), ("clear", {})),
        (("is set", {}),),
        (("wait", {}),),
        (("first", {"waits": draw.one(("signal", "sleep"), ("both", "queue"))}),),
    )


def queued(draw: Draw) -> Phrase:
    """A queue."""
    queue = draw.one("q", "q", "idle")
    return draw.one(
        (("put", {"queue": queue}),),
        (("take", {"queue": queue}),),
        (("length", {"queue": queue}),),
        (("first", {"waits": draw.one(("queue", "sleep"), ("idle", "signal"))}),),
    )


def takers(draw: Draw) -> Phrase:
    """Tasks that take from one queue, and fewer items than tasks."""
    take: Phrase = (("take", {"queue": draw.one("q", "idle")}),)
    more = draw.one(bit, read)(draw)[:1]
    return (
        ("spawn", {"name": "v", "actions": (*take, *more)}),
        ("spawn", {"name": "w", "actions": take}),
        ("put", {"queue": take[0][1]["queue"]}),
    )


def rung(draw: Draw) -> Phrase:
    """An alarm."""
    return draw.one(
        (("ring", {"ms": draw.one(5, 5, 10, None)}),),
        (("ring", {"ms": draw.one(5, 10, None)}),),
        (("rest", {}),),
        (("when", {}),),
        (("first", {"waits": ("alarm", "sleep")}),),
    )


def bit(draw: Draw) -> Phrase:
    """Something small of one's own."""
    return draw.one(
        (("now", {}),),
        (("sleep", {"ms": draw.one(5, 10), "name": draw.one("nap", "doze")}),),
        (("pick", {"label": draw.one("lot", "dice"), "of": 2}),),
        (("record", {"facts": draw.in_(2)}),),
        (("record", {}), ("number", {})),
        (("show", {"name": draw.one("mood", "mien")}),),
        (("me", {}),),
        (("hide", {}),),
    )


def gone(draw: Draw) -> Phrase:
    """The end of a life."""
    return draw.one((("exit", {"again": draw.one(None, 5)}),), (("die", {}),))


# -- Endpoints of one's own, the API server --------------------------------------------------------

VERBS = (
    "add", "add", "look", "slow", "behind", "twice", "write", "deny", "who", "range", "far",
    "erase", "both",
)  # fmt: skip


def own(draw: Draw) -> Phrase:
    """An Endpoint of one's own is asked, or told."""
    endpoint = draw.one("ledger", "diary", "pocket", "purse")
    if draw.in_(5):
        return (("tell", {"endpoint": endpoint, "verb": draw.one("add", "write")}),)
    near = endpoint in ("pocket", "purse")
    verb = draw.of([verb for verb in VERBS if not near or verb not in ("slow", "behind", "twice")])
    given: dict[str, Any] = {"endpoint": endpoint, "verb": verb, "timeout": _timeout(draw)}
    if verb == "who":
        given |= {"uid": "u", "options": {"why": "so"}}
    if verb == "range":
        how = draw.one("range", "between", "changes", "get")
        given |= {"options": {"how": how, "name": draw.one("", "default/x")}}
    return (("ask", given), *(_looks(draw) if verb == "deny" else ()))


def patched(draw: Draw) -> Phrase:
    """A patch, one way or the other."""
    tree = draw.one("data", "other", "gone", "labels", "hold", "free")
    return (("patch", {"tree": tree, "how": draw.one("merge", "strategic")}), *_looks(draw))


def served(draw: Draw) -> Phrase:
    """What only an API server knows: subresources, graces, owners."""
    linked = draw.in_(2)
    begin: Phrase = (("record", {}),) if linked else ()
    pod = {"kind": "pod", "name": "p"}
    act = draw.one(
        _act("bind", because=linked),
        _act("evict"),
        _act("patch", **pod, tree="status", subresource="status", because=linked,
             timeout=_timeout(draw)),
        _act("update", **pod, subresource="status", because=linked),
        _act("create", kind="pod", name="q", because=linked),
        _act("create", **pod, subresource="status"),
        _act("delete", **pod, because=linked, options={"grace_s": draw.one(0, 1)}),
        _act("get", **pod),
        _act("list", kind="pod", limit=draw.one(0, 1), at=draw.one("", "any", "last")),
    )  # fmt: skip
    return (*begin, act, *_looks(draw))


def paged(draw: Draw) -> Phrase:
    """A list in pages."""
    pages = ({"kind": "note", "limit": 1}, {"kind": "note", "limit": 1, "goes_on": True})
    return (("create", {"name": "w"}), *[("list", page) for page in pages], *_looks(draw))


THEMES: dict[str, tuple[Drawer, ...]] = {
    "points": (rewrite, read, write, write),
    "lists": (listed, listed, write, write),
    "pasts": (past, past, write, write),
    "watches": (watched, write, write),
    "caches": (cached, write, write),
    "tasks": (spawned, spawned, read, write, bit),
    "signals": (spawned, waits, waits),
    "queues": (takers, queued, queued, spawned),
    "alarms": (spawned, rung, rung),
    "bits": (bit, bit, read, gone),
    "own": (own, own, own, read),
    "patches": (patched, write, patched),
    "txns": (transacted, write, listed),
    "pods": (served, served, served, paged),
}
"""By its word, the phrases that a theme is made of; one actor begins with the first."""
OFTEN = ("watches", "caches", "caches", "own", "own", "queues", "alarms")
"""Themes to be drawn more often than others."""
