"""What an API server does, said once more and plainly: a model written from the specification.

Objects are dicts of what matters here, the Store is a dict and a list of commits. A verb is a
generator, like a handler of the server's, and pauses where the specification says that another
request may come between: before each commit after its first, and before a write that rests on
another object than the one it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import attrs

Thing = dict[str, Any]
Doing = Generator[None, None, Any]
OVER = ("Succeeded", "Failed")
PODS, BUDGETS, CLASSES, QUOTAS = "pods", "poddisruptionbudgets", "priorityclasses", "resourcequotas"
COUNTED, CONDITIONAL = (BUDGETS, CLASSES), (BUDGETS,)
"""Kinds that have a generation, and those that are updated only by the revision that was read."""
WANTED = {
    PODS: ("node", "asks", "class", "priority"), BUDGETS: ("covers",),
    CLASSES: ("value", "default"), QUOTAS: ("limit", "scope"),
}  # fmt: skip
"""What a write of an object may say of it beside its labels and its finalizers."""
BECOMES = {
    PODS: ("phase", "conditions"), CLASSES: (), QUOTAS: ("hard", "used"),
    BUDGETS: ("observed", "allowed", "healthy", "desired", "disrupted"),
}  # fmt: skip
"""What a write of its status may."""
FRESH: dict[str, Thing] = {
    PODS: {"phase": "Pending", "conditions": ()}, CLASSES: {}, QUOTAS: {"hard": None, "used": None},
    BUDGETS: {"observed": 0, "allowed": 0, "healthy": 0, "desired": 0, "disrupted": {}},
}  # fmt: skip
"""What each is when it has just been created."""
IMMUTABLE = {PODS: WANTED[PODS], CLASSES: ("value",), BUDGETS: (), QUOTAS: ()}


class Refused(Exception):
    """The answer is an error of this code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@attrs.frozen
class Wish:
    """How something is to be deleted."""

    grace: int | None = None
    uid: str = ""
    rv: str = ""


def plural_of(key: str) -> str:
    """The kind of what stands at a key."""
    return key.partition("/")[0]


def having(conditions: Any, kind: str, since_s: int | None) -> Any:
    """Conditions, of which that one is so: as it was if it was, else at its place and since now."""
    if all(each[0] != kind for each in conditions):
        return (*conditions, (kind, "True", since_s))
    return tuple(
        (kind, "True", since_s) if each[0] == kind and each[1] != "True" else each
        for each in conditions
    )


def is_ready(pod: Thing) -> bool:
    """Whether a pod says that it is ready."""
    return any(each[:2] == ("Ready", "True") for each in pod["conditions"])


def reported(conditions: Any, status: str) -> Any:
    """Conditions after a patch that says whether the pod is ready, and not since when."""
    if all(each[0] != "Ready" for each in conditions):
        return (*conditions, ("Ready", status, None))
    return tuple(("Ready", status, each[2]) if each[0] == "Ready" else each for each in conditions)


@attrs.define(eq=False)
class ServerView:
    """What one server has read of each kind, and what it has written itself since."""

    model: Model
    reach: Callable[[str], int]
    own: dict[str, Thing] = attrs.field(factory=dict)

    def of_kind(self, plural: str) -> dict[str, Thing]:
        """All of a kind, as far as it was read."""
        there = self.model.at(self.reach(plural))
        return {key: there[key] for key in sorted(there) if plural_of(key) == plural}

    def quotas(self) -> dict[str, Thing]:
        """The quotas as they were read; as they are, if none was; or as they were written here."""
        there = self.model.things
        now = {key: there[key] for key in sorted(there) if plural_of(key) == QUOTAS}
        known = self.of_kind(QUOTAS) or now
        return {key: max(self.own.get(key, thing), thing, key=lambda one: int(one["rv"]))
                for key, thing in known.items()}  # fmt: skip


class Model:
    """All that is in the Store, and all that was."""

    def __init__(self) -> None:
        self.rv = 1
        self.things: dict[str, Thing] = {}
        self.commits: list[tuple[int, str, Thing | None, Thing | None]] = []
        """Revision, key, what was there before, what was there then."""
        self.now_s = 0
        self.made = 0

    # -- commits --------------------------------------------------------------------------------

    def put(self, key: str, thing: Thing) -> Thing:
        """A commit that leaves this at a key (API-3)."""
        self.rv += 1
        thing = {**thing, "rv": str(self.rv)}
        self.commits.append((self.rv, key, self.things.get(key), thing))
        self.things[key] = thing
        return thing

    def drop(self, key: str) -> None:
        """A commit that leaves nothing there."""
        self.rv += 1
        self.commits.append((self.rv, key, self.things.pop(key), None))

    def found(self, key: str) -> Thing:
        """What is there."""
        if key not in self.things:
            raise Refused(404)
        return self.things[key]

    def at(self, rv: int) -> dict[str, Thing]:
        """What was there then."""
        there: dict[str, Thing] = {}
        for when, key, _, thing in self.commits:
            if when <= rv and thing is None:
                there.pop(key, None)
            elif when <= rv and thing is not None:
                there[key] = thing
        return there

    # -- writes ---------------------------------------------------------------------------------

    def create(self, key: str, thing: Thing, view: ServerView) -> Doing:
        """API-8, API-16, API-17; what admission looks at comes first."""
        plural = plural_of(key)
        if plural == PODS:
            thing = {**thing, **self.class_of(thing["class"], view)}
            yield
            yield from self.charge(thing["class"], view)
        elif plural == CLASSES and thing["default"]:
            if self.other_default(view, ""):
                raise Refused(403)
            yield
        if key in self.things:
            raise Refused(409)
        self.made += 1
        fresh: Thing = {"deleted": None, "grace": None, "uid": f"#{self.made}", **FRESH[plural]}
        if plural in COUNTED:
            fresh["generation"] = 1
        return self.put(key, {**thing, **fresh})

    def update(
        self, key: str, body: Thing, uid: str, rv: str, view: ServerView, *, status: bool
    ) -> Doing:
        """API-5, API-11, API-12, API-14, API-15, API-18, API-30."""
        plural = plural_of(key)
        while True:
            old = self.found(key)
            if uid and uid != old["uid"]:
                raise Refused(409)
            if not rv and plural in CONDITIONAL:
                raise Refused(422)
            if rv and rv != old["rv"]:
                raise Refused(409)
            new = {**old, "labels": body["labels"], "finalizers": body["finalizers"]}
            for name in (BECOMES if status else WANTED)[plural]:
                new[name] = body[name]
            if any(new[name] != old[name] for name in IMMUTABLE[plural]):
                raise Refused(422)
            if old["deleted"] is not None and {*new["finalizers"]} - {*old["finalizers"]}:
                raise Refused(422)
            if plural == BUDGETS and new["covers"] != old["covers"]:
                new["generation"] += 1
            if plural == CLASSES and new["default"]:
                if self.other_default(view, key):
                    raise Refused(403)
                yield
            if self.things.get(key) is old:
                return self.change(key, old, new)

    # -- what admission looks at ----------------------------------------------------------------

    def default(self, view: ServerView) -> str:
        """The key of the default class: of several the least important (PRI-7)."""
        known = view.of_kind(CLASSES)
        defaults = [key for key, thing in known.items() if thing["default"]]
        return min(defaults, key=lambda key: known[key]["value"], default="")

    def other_default(self, view: ServerView, key: str) -> bool:
        """Whether another class is the default (PRI-6)."""
        return self.default(view) not in ("", key)

    def class_of(self, name: str, view: ServerView) -> Thing:
        """The class and the priority of a new pod that names this one (PRI-11 to PRI-13)."""
        key = f"{CLASSES}/{name}" if name else self.default(view)
        if not key:
            return {"class": "", "priority": 0}
        known = view.of_kind(CLASSES)
        if key not in known:
            raise Refused(403)
        return {"class": key.partition("/")[2], "priority": known[key]["value"]}

    def charge(self, name: str, view: ServerView) -> Doing:
        """Take a pod of that class from each quota that counts it, commit by commit (PRI-22)."""
        known = view.quotas()
        left = self.counting(known, name)
        for tries in range(4):
            failed: dict[str, int] = {}
            if any(quota["used"] + 1 > quota["hard"] for quota in left.values()):
                raise Refused(403)
            has_committed = False
            for key, quota in left.items():
                if has_committed:
                    yield
                there = self.things.get(key)
                if there is None or there["rv"] != quota["rv"]:
                    failed[key] = 404 if there is None else 409
                else:
                    view.own[key] = self.put(key, {**quota, "used": quota["used"] + 1})
                    has_committed = True
            if not failed:
                break
            if tries == 3:
                raise Refused(failed[max(failed)])
            yield
            left = self.counting({k: q for k, q in view.quotas().items() if k in failed}, name)
        if known:
            yield

    def counting(self, quotas: dict[str, Thing], name: str) -> dict[str, Thing]:
        """Those that count pods of that class; Forbidden if it is not known what one has left."""
        met = {key: quota for key, quota in quotas.items()
               if quota["hard"] is not None and quota["scope"] in ("", name)}  # fmt: skip
        if any(quota["used"] is None for quota in met.values()):
            raise Refused(403)
        return met

    # -- more writes ----------------------------------------------------------------------------

    def patch(self, key: str, changes: Thing, rv: str) -> Doing:
        """API-13: of whatever is there now, so much."""
        old = self.found(key)
        if rv and rv != old["rv"]:
            raise Refused(409)
        if changes.get("node", old["node"]) != old["node"]:
            raise Refused(422)
        held = {*changes.get("finalizers", ())} - {*old["finalizers"]}
        if old["deleted"] is not None and held:
            raise Refused(422)
        return self.change(key, old, {**old, **changes})
        yield

    def change(self, key: str, old: Thing, new: Thing) -> Thing | None:
        """Commit it, if it is a change; or the removal that this makes possible (API-30)."""
        if new == old:
            return old
        if old["deleted"] is not None and not new["finalizers"] and not old["grace"]:
            self.drop(key)
            return None
        return self.put(key, new)

    def bind(self, key: str, node: str, uid: str) -> Doing:
        """API-19 to API-21."""
        pod = self.found(key)
        if (uid and uid != pod["uid"]) or pod["deleted"] is not None or pod["node"]:
            raise Refused(409)
        conditions = having(pod["conditions"], "PodScheduled", self.now_s)
        return self.put(key, {**pod, "node": node, "conditions": conditions})
        yield

    # -- deletion -------------------------------------------------------------------------------

    def check(self, thing: Thing, wish: Wish) -> None:
        """API-23."""
        if (wish.uid and wish.uid != thing["uid"]) or (wish.rv and wish.rv != thing["rv"]):
            raise Refused(409)

    def delete(self, key: str, wish: Wish) -> Doing:
        """API-23 to API-31."""
        old = self.found(key)
        self.check(old, wish)
        new = dict(old)
        asked = None if wish.grace is None else wish.grace if wish.grace >= 0 else 1
        if key.startswith("pods/"):
            if old["deleted"] is None:
                given = old["asks"] if asked is None else asked
                if not old["node"] or old["phase"] in OVER:
                    given = 0
                new |= {"deleted": self.now_s + given, "grace": given}
            elif old["grace"] and asked is not None and asked < old["grace"]:
                new |= {"deleted": old["deleted"] - old["grace"] + asked, "grace": asked}
            elif old["grace"]:
                return old
        if new["finalizers"] and not new["grace"]:
            by = self.now_s if new["deleted"] is None else min(new["deleted"], self.now_s)
            counts = "generation" in new and new["deleted"] is None
            new |= {"deleted": by, "grace": 0}
            if counts:
                new["generation"] += 1
        is_new = new != old
        if is_new:
            new = self.put(key, new)
        if new["finalizers"] or new["grace"]:
            return new
        if is_new:
            yield
            if key not in self.things:
                return None
            self.check(self.things[key], attrs.evolve(wish, rv=wish.rv and new["rv"]))
        self.drop(key)
        return None

    # -- eviction -------------------------------------------------------------------------------

    def evict(self, key: str, wish: Wish) -> Doing:
        """API-33 to API-37."""
        pod = self.found(key)
        tries = 0
        while pod["phase"] in (*OVER, "Pending") or pod["deleted"] is not None:
            is_pending = pod["phase"] == "Pending" and not wish.rv
            try:
                mine = attrs.evolve(wish, rv=pod["rv"]) if is_pending else wish
                return (yield from self.note_and_delete(key, mine))
            except Refused as refused:
                tries += 1
                if refused.code != 409 or wish.rv or tries == 20:
                    raise
            yield
            pod = self.found(key)
        covering = [
            name for name, thing in sorted(self.things.items())
            if "covers" in thing and thing["covers"] and thing["covers"] == pod["labels"].get("app")
        ]  # fmt: skip
        if len(covering) > 1:
            raise Refused(500)
        if not covering:
            return (yield from self.note_and_delete(key, wish))
        budget = self.things[covering[0]]
        if not is_ready(pod) and budget["healthy"] >= budget["desired"] > 0:
            try:
                return (yield from self.note_and_delete(key, attrs.evolve(wish, rv=pod["rv"])))
            except Refused as refused:
                raise Refused(
                    429 if refused.code == 409 and not wish.rv else refused.code
                ) from None
        yield
        yield from self.take(covering[0], budget, key)
        yield
        return (yield from self.note_and_delete(key, wish))

    def take(self, key: str, seen: Thing, pod_key: str) -> Doing:
        """API-36, API-37: with the conflict tried again after another look."""
        for _ in range(20):
            budget = self.found(key)
            if budget["rv"] == seen["rv"]:
                break
            seen = budget
            yield
        else:
            raise Refused(409)
        if budget["observed"] < budget["generation"]:
            raise Refused(429)
        if budget["allowed"] < 0:
            raise Refused(403)
        if budget["allowed"] == 0:
            raise Refused(429)
        disrupted = {**budget["disrupted"], pod_key.rpartition("/")[2]: self.now_s}
        self.put(key, {**budget, "allowed": budget["allowed"] - 1, "disrupted": disrupted})

    def note_and_delete(self, key: str, wish: Wish) -> Doing:
        """Say on the pod that it is evicted, then delete it; both only if it is the one meant."""
        pod = self.found(key)
        conditions = having(pod["conditions"], "DisruptionTarget", self.now_s)
        if conditions != pod["conditions"]:
            self.check(pod, wish)
            pod = self.put(key, {**pod, "conditions": conditions})
            wish = attrs.evolve(wish, rv=wish.rv and pod["rv"])
            yield
        return (yield from self.delete(key, wish))
