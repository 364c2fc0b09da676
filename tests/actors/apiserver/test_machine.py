"""Two API servers over one Store beside a model of the specification, whatever is asked and when.

Each operation is begun at one of the servers and goes on part by part, with others between; a
server may lag, crash and come back. After every part the Store is what the model says, so is the
answer, and no claim of the protocol is breached.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from actors.apiserver import ApiServer
from actors.apiserver.invariants import protocol_claims
from testbed.errors import ApiError
from testbed.invariant import COMMIT, SERVED
from testbed.invariants.history import RevisionsIncrease
from testbed.objects import (
    Binding,
    Condition,
    DeleteOptions,
    Eviction,
    LabelSelector,
    Map,
    Meta,
    Object,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    ResourceQuota,
    Revision,
    ScopedRequirement,
    Target,
    condition,
    labels,
)
from testbed.objects.binding import Preconditions
from testbed.objects.disruption_budget import PodDisruptionBudgetSpec
from testbed.objects.plain import frozen
from testbed.objects.quantity import whole
from testbed.objects.quota import QuotaSpec, QuotaStatus, ScopeSelector
from testbed.store.delivery import ADDED, DELETED, ERROR, MODIFIED, Delivery
from testbed.store.endpoint import Operation
from testbed.store.selector import Selector
from testbed.store.watch import Watch
from testbed.world.world import World
from tests.models.api_model import (
    BUDGETS,
    CLASSES,
    OVER,
    PODS,
    QUOTAS,
    Doing,
    Model,
    Refused,
    ServerView,
    Thing,
    Wish,
    plural_of,
    reported,
)

KINDS = (PODS, BUDGETS, CLASSES, QUOTAS)
PHASES = ("Pending", "Running", "Succeeded", "Failed")
HALF_MS = 500
"""The clock never stands at a whole second, where every timestamp does."""

pod_names, budget_names = st.sampled_from("ab"), st.sampled_from("xy")
class_names, quota_names = st.sampled_from("cd"), st.sampled_from("qr")
keys = st.one_of(
    pod_names.map(lambda n: f"{PODS}/default/{n}"),
    budget_names.map(lambda n: f"{BUDGETS}/default/{n}"),
    class_names.map(lambda n: f"{CLASSES}/{n}"),
    quota_names.map(lambda n: f"{QUOTAS}/default/{n}"),
)
plurals, servers = st.sampled_from(KINDS), st.sampled_from((0, 1))
apps, nodes = st.sampled_from(("a", "b", "")), st.sampled_from(("n1", "n2"))
graces = st.sampled_from((None, None, 0, 0, 5, 60, -1))
meant = st.sampled_from(("", "", "right", "right", "old"))
parts = st.sampled_from((9, 9, 9, 1, 2))
"""Most are done with before another comes between; enough are not."""
points = st.sampled_from(("", "0", "now", "old", "next"))


@attrs.define(eq=False)
class Asked:
    """One operation on its way: at the server, and in the model. It is what the claims are shown
    in place of a request of a World."""

    server: ApiServer
    operation: Operation
    doing: Doing
    handler: Generator[Any, Any, Any]
    name: str = "machine"
    is_served: bool = False
    value: Any = None
    error: ApiError | None = None
    is_begun: bool = False

    @property
    def role(self) -> Asked:
        """Who asks."""
        return self

    @property
    def post(self) -> Asked:
        """Where it has gone."""
        return self

    @property
    def endpoint(self) -> ApiServer:
        """Who answers."""
        return self.server


@attrs.define(eq=False)
class Reader:
    """One open watch, and up to which commit it has told."""

    watch: Watch
    place: int
    plural: str
    app: str
    first: list[tuple[str, Thing]]
    upto: int
    is_too_late: bool


class Machine(RuleBasedStateMachine):
    """The servers, and the model beside them."""

    operations = 0
    """How many were begun, by all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World("machine")
        store = self.store = self.world.store
        self.servers = [ApiServer(store), ApiServer(store, "api-2", lags=KINDS)]
        self.model = Model()
        self.began = [1, 1]
        self.views = [ServerView(self.model, partial(self.reach, place)) for place in (0, 1)]
        self.read = dict.fromkeys(KINDS, 0)
        self.flying: list[Asked] = []
        self.readers: list[Reader] = []
        self.seen: dict[str, list[Any]] = {}
        self.uids: dict[str, str] = {}
        self.claims = [RevisionsIncrease(), *protocol_claims()]
        for plural in self.read:
            self.servers[1].cursor(plural)

    # -- both sides -----------------------------------------------------------------------------

    @property
    def now_ms(self) -> int:
        """Virtual time, as the servers are told."""
        return self.model.now_s * 1000 + HALF_MS

    def ask(self, place: int, operation: Operation, doing: Doing, parts: int = 1) -> Any:
        """Begin it at a server and in the model, up to `parts` parts of it before anything else;
        its value if it is done at once."""
        Machine.operations += 1
        server = self.servers[place]
        handler = server.handle(operation, "machine", self.now_ms)
        asked = Asked(server, operation, doing, handler)
        self.flying.append(asked)
        self.go_on_with(asked, parts)
        return asked.value

    def go_on_with(self, asked: Asked, parts: int = 1) -> None:
        """That many parts of it, or all that there are."""
        while parts and not asked.is_served:
            self.one_part_of(asked)
            parts -= 1

    def one_part_of(self, asked: Asked) -> None:
        """One part of it, on both sides: each says the same, and leaves the same."""
        before = self.store.revision
        marks = self.world.table.marks
        for noted in (marks.reads, marks.writes, marks.changes):
            noted.clear()
        said = self.served(asked)
        try:
            next(asked.doing)
            wanted: Any = "goes on"
        except StopIteration as done:
            wanted = ("done", done.value)
        except Refused as refused:
            wanted = ("refused", refused.code)
        assert said == (wanted if isinstance(wanted, str) else wanted[0]) or (
            isinstance(wanted, tuple) and said == f"{wanted[0]} {wanted[1]}"
        ), f"{asked.operation}: {said}, and the model: {wanted}"
        if asked.is_served:
            self.flying.remove(asked)
        self.same_store(before)
        self.judge(asked)
        if asked.is_served and asked.error is None and asked.operation.verb in ("get", "list"):
            assert self.shown(asked.value) == wanted[1], str(asked.operation)

    def served(self, asked: Asked) -> str:
        """What the server does with one part of it."""
        try:
            asked.handler.send(self.now_ms if asked.is_begun else None)
            asked.is_begun = True
        except StopIteration as done:
            asked.is_served, asked.value = True, done.value
            return "done"
        except ApiError as error:
            asked.is_served, asked.error = True, error
            return f"refused {error.code}"
        return "goes on"

    def same_store(self, before: int) -> None:
        """What was committed is what the model says."""
        for change in self.store.log().after(before):
            if change.new is not None:
                item: Any = change.new.value
                self.uids.setdefault(item.meta.uid, f"#{len(self.uids) + 1}")
                self.seen.setdefault(change.key, []).append(item)
        assert self.store.revision == self.model.rv
        there = {entry.key: self.abstract(entry.value) for entry in self.store.snapshot("")}
        assert there == self.model.things

    def judge(self, asked: Asked) -> None:
        """No claim is breached."""
        evidence, marks = self.world.evidence, self.world.table.marks
        self.world.wire.served = asked  # type: ignore[assignment]
        evidence.changes = tuple(marks.changes)
        for claim in self.claims:
            if SERVED in claim.looks_at or (COMMIT in claim.looks_at and evidence.changes):
                said = claim.look(None, evidence)
                assert said is None, f"{claim.name}: {said}"

    def abstract(self, value: Any) -> Thing:
        """An object, as the model has it."""
        meta, item = value.meta, value
        thing: Thing = {
            "uid": self.uids[meta.uid], "rv": str(meta.revision), "labels": dict(meta.labels),
            "finalizers": meta.finalizers, "grace": meta.grace_s,
            "deleted": None if meta.deleted_ms is None else meta.deleted_ms / 1000,
        }  # fmt: skip
        if isinstance(item, PriorityClass):
            own = {"generation": meta.generation, "value": item.value}
            return thing | own | {"default": item.global_default}
        status = item.status
        if isinstance(item, ResourceQuota):
            return thing | {
                "limit": amount(item.spec.hard), "hard": amount(status.hard),
                "used": amount(status.used), "scope": scope_of(item.spec),
            }  # fmt: skip
        if isinstance(item, Pod):
            conditions = tuple(
                (each.type, each.status, None if each.since_ms is None else each.since_ms / 1000)
                for each in status.conditions
            )
            return thing | {
                "node": item.spec.node_name, "asks": item.spec.grace_s, "phase": status.phase,
                "conditions": conditions, "class": item.spec.priority_class_name,
                "priority": item.spec.priority,
            }  # fmt: skip
        return thing | {
            "generation": meta.generation, "observed": status.observed_generation,
            "allowed": status.disruptions_allowed, "healthy": status.current_healthy,
            "desired": status.desired_healthy,
            "covers": item.spec.selector.match_labels.get("app", ""),
            "disrupted": {name: ms / 1000 for name, ms in status.disrupted_pods.items()},
        }  # fmt: skip

    def shown(self, value: Any) -> Any:
        """An answer, as the model has it."""
        if isinstance(value, Object):
            return self.abstract(value)
        return str(value.revision), [self.abstract(item) for item in value.items]

    def now(self, key: str) -> Any:
        """The object that is there; None."""
        entry = self.store.peek(key)
        return None if entry is None else entry.value

    def which(self, key: str, said: str, field: str) -> Any:
        """The uid or the revision that a caller names: none, the right one, an old one."""
        item = self.now(key)
        if said == "old" and self.seen.get(key):
            item = self.seen[key][0]
        return getattr(item.meta, field) if said and item is not None else ""

    # -- writes ---------------------------------------------------------------------------------

    @initialize(names=st.sampled_from(("", "a", "ab", "ab")), app=apps, is_held=st.booleans(),
                node=nodes, limit=st.sampled_from((None, None, 4, 8)))  # fmt: skip
    def begin(self, names: str, app: str, is_held: bool, node: str, limit: int | None) -> None:
        """Mostly something is there: pods and what they are of, and what counts them."""
        for name in names:
            self.create_pod(0, name, app, is_held, node, 5, "", 9)
        if names:
            self.create_budget(0, "x", app)
        if limit is not None:
            self.create_quota(0, "q", limit, "")
            self.count(0, "q", limit, 0)

    @rule(place=servers, name=pod_names, app=apps, is_held=st.booleans(),
          node=st.sampled_from(("", "", "n1")), asks=st.sampled_from((0, 5, 30)),
          wanted=st.sampled_from(("", "", "", "", "c", "d")), parts=parts)  # fmt: skip
    def create_pod(
        self, place: int, name: str, app: str, is_held: bool, node: str, asks: int, wanted: str,
        parts: int,
    ) -> None:  # fmt: skip
        """A pod, with a status that a create must ignore."""
        given = {"app": app} if app else {}
        held = ("keep",) if is_held else ()
        pod = Pod.of(name, cpu_m=1, labels=given, node_name=node, grace_s=asks)
        pod = attrs.evolve(pod.with_meta(finalizers=held), status=attrs.evolve(pod.status,
                           phase="Failed"), spec=attrs.evolve(pod.spec,
                           priority_class_name=wanted))  # fmt: skip
        thing = {"labels": given, "finalizers": held, "node": node, "asks": asks, "class": wanted}
        self.create(place, pod, thing, parts)

    def create(self, place: int, item: Any, thing: Thing, parts: int = 1) -> None:
        """Ask for a new object."""
        doing = self.model.create(item.key, thing, self.views[place])
        self.ask(place, about("create", item.key, body=item), doing, parts)

    @rule(place=servers, name=budget_names, app=apps)
    def create_budget(self, place: int, name: str, app: str) -> None:
        """A budget; one for no app covers no pod."""
        budget = PodDisruptionBudget(name, spec=covering(app))
        self.create(place, budget, {"labels": {}, "finalizers": (), "covers": app})

    @rule(place=servers, name=class_names, value=st.integers(1, 2), is_default=st.booleans())
    def create_class(self, place: int, name: str, value: int, is_default: bool) -> None:
        """A class of pods, maybe the default."""
        item = PriorityClass(name, value=value, global_default=is_default)
        thing = {"labels": {}, "finalizers": (), "value": value, "default": is_default}
        self.create(place, item, thing)

    @rule(place=servers, name=quota_names, limit=st.integers(0, 4),
          scope=st.sampled_from(("", "", "c")))  # fmt: skip
    def create_quota(self, place: int, name: str, limit: int, scope: str) -> None:
        """A quota of pods, of one class or of all."""
        item = ResourceQuota(name, spec=limiting(limit, scope))
        thing = {"labels": {}, "finalizers": (), "limit": limit, "scope": scope}
        self.create(place, item, thing)

    @rule(place=servers, name=quota_names, hard=st.sampled_from((None, 1, 2, 4, 8, 8)),
          used=st.sampled_from((None, 0, 0, 0, 1)))  # fmt: skip
    def count(self, place: int, name: str, hard: int | None, used: int | None) -> None:
        """The controller says of a quota how much there is, and how much of it is used."""
        key = f"{QUOTAS}/default/{name}"
        item = self.now(key)
        if item is None:
            return
        status = QuotaStatus(amounts(hard), amounts(used))
        body = attrs.evolve(item, status=status).with_meta(revision=Revision())
        doing = self.model.update(key, self.abstract(body), "", "", self.views[place], status=True)
        self.ask(place, about("update", key, body=body, subresource="status"), doing)

    @precondition(lambda self: self.seen)
    @rule(place=servers, data=st.data(), back=st.integers(0, 3), has_rv=st.booleans(),
          has_uid=st.booleans(), is_status=st.booleans(), app=apps, phase=st.sampled_from(PHASES),
          is_ready=st.booleans(), allowed=st.integers(-1, 3), lifts=st.booleans(),
          node=st.sampled_from(("", "", "", "n1")))  # fmt: skip
    def update(
        self, place: int, data: Any, back: int, has_rv: bool, has_uid: bool, is_status: bool,
        app: str, phase: str, is_ready: bool, allowed: int, lifts: bool, node: str,
    ) -> None:  # fmt: skip
        """What was read, changed, and written back: just now, or long ago."""
        key = data.draw(st.sampled_from(sorted(self.seen)))
        item = self.seen[key][-1 - min(back, len(self.seen[key]) - 1)]
        meta, there = item.meta, self.now(key)
        held = meta.finalizers
        if lifts or (there is not None and there.meta.is_terminating):
            held = () if lifts else there.meta.finalizers
        uid = meta.uid if has_uid else ""
        rv = meta.revision if has_rv else Revision()
        body = item.with_meta(labels={"app": app} if app else {}, finalizers=held)
        if isinstance(body, Pod):
            body = with_status(body, self.lawful(key, phase), is_ready)
            body = attrs.evolve(body, spec=attrs.evolve(body.spec, node_name=node or
                                                        body.spec.node_name))  # fmt: skip
        elif isinstance(body, PriorityClass):
            is_status = False
            body = attrs.evolve(body, global_default=is_ready, value=2 if node else body.value)
        elif isinstance(body, ResourceQuota):
            body = attrs.evolve(body, spec=limiting(allowed + 1, app))
        elif is_status:
            status = attrs.evolve(
                body.status, disruptions_allowed=allowed, desired_healthy=1, current_healthy=1,
                observed_generation=there.meta.generation if there else 1, disrupted_pods=Map(),
            )  # fmt: skip
            body = attrs.evolve(body, status=status)
        else:
            body = attrs.evolve(body, spec=covering(app))
        thing = self.abstract(body)
        sent = body.with_meta(uid=uid, revision=rv)
        doing = self.model.update(
            key, thing, self.uids[uid] if uid else "", str(rv), self.views[place], status=is_status
        )
        subresource = "status" if is_status else ""
        self.ask(place, about("update", key, body=sent, subresource=subresource), doing)

    def lawful(self, key: str, phase: str) -> str:
        """A phase that a kubelet may report; a pod that is over stays over."""
        there = self.now(key)
        is_over = there is not None and there.is_over and phase not in OVER
        return there.status.phase if is_over else phase

    @rule(place=servers, name=pod_names, what=st.sampled_from(("label", "lift", "node", "nothing")),
          app=apps, rv=meant, how=st.sampled_from(("merge", "strategic")))  # fmt: skip
    def patch(self, place: int, name: str, what: str, app: str, rv: str, how: str) -> None:
        """A part of whatever is there."""
        key = f"{PODS}/default/{name}"
        revision = str(self.which(key, rv, "revision"))
        tree: Any = {
            "label": {"metadata": {"labels": {"app": app or None}}},
            "lift": {"metadata": {"finalizers": None}},
            "node": {"spec": {"nodeName": "n9"}}, "nothing": {"metadata": {}},
        }[what]  # fmt: skip
        known: dict[str, Thing] = {"lift": {"finalizers": ()}, "node": {"node": "n9"}}
        changes = known.get(what, {})
        if what == "label" and key in self.model.things:
            kept = {k: v for k, v in self.model.things[key]["labels"].items() if k != "app"}
            changes = {"labels": {**kept, **({"app": app} if app else {})}}
        if revision:
            tree.setdefault("metadata", {})["resourceVersion"] = revision
        operation = about("patch", key, body=frozen(tree, nulls=True), options=Map(how=how))
        self.ask(place, operation, self.model.patch(key, changes, revision))

    @rule(place=servers, name=pod_names, phase=st.sampled_from(PHASES), is_ready=st.booleans())
    def report(self, place: int, name: str, phase: str, is_ready: bool) -> None:
        """What a kubelet says of a pod: its phase, and whether it is ready."""
        key = f"{PODS}/default/{name}"
        phase = self.lawful(key, phase)
        ready = {"type": "Ready", "status": str(is_ready)}
        tree = {"status": {"phase": phase, "conditions": [ready]}}
        operation = about("patch", key, body=frozen(tree), options=Map(how="strategic"),
                          subresource="status")  # fmt: skip
        changes: Thing = {"phase": phase}
        if key in self.model.things:
            before = self.model.things[key]["conditions"]
            changes["conditions"] = reported(before, str(is_ready))
        self.ask(place, operation, self.model.patch(key, changes, ""))

    @rule(place=servers, name=pod_names, node=nodes, uid=meant)
    def bind(self, place: int, name: str, node: str, uid: str) -> None:
        """A node for a pod."""
        key = f"{PODS}/default/{name}"
        real = self.which(key, uid, "uid")
        body = Binding(Meta(name, uid=real), Target(node))
        doing = self.model.bind(key, node, self.uids.get(real, ""))
        self.ask(place, about("create", key, body=body, subresource="binding"), doing)

    @rule(place=servers, key=keys, grace=graces, uid=meant, rv=meant)
    def delete(self, place: int, key: str, grace: int | None, uid: str, rv: str) -> None:
        """An object is deleted."""
        real, revision = self.which(key, uid, "uid"), self.which(key, rv, "revision")
        wish = Wish(grace, self.uids.get(real, ""), str(revision))
        options: Map[Any] = Map() if grace is None else Map(grace_s=grace)
        operation = about("delete", key, uid=real, options=options,
                          revision=Revision(str(revision)))  # fmt: skip
        self.ask(place, operation, self.model.delete(key, wish))

    @rule(place=servers, name=pod_names, grace=graces, uid=meant, rv=meant)
    def evict(self, place: int, name: str, grace: int | None, uid: str, rv: str) -> None:
        """A pod is evicted, if its budget allows it."""
        key = f"{PODS}/default/{name}"
        real, revision = self.which(key, uid, "uid"), self.which(key, rv, "revision")
        wish = Wish(grace, self.uids.get(real, ""), str(revision))
        options = DeleteOptions(grace, Preconditions(real, Revision(str(revision))))
        operation = about("create", key, body=Eviction(Meta(name), options),
                          subresource="eviction")  # fmt: skip
        self.ask(place, operation, self.model.evict(key, wish))

    # -- reads ----------------------------------------------------------------------------------

    def reach(self, place: int, plural: str) -> int:
        """The revision up to which a server has read a kind."""
        mine = self.of_kind(plural)
        if place == 0 or self.read[plural] == len(mine):
            return self.model.rv
        return mine[self.read[plural]][0] - 1

    def of_kind(self, plural: str) -> list[tuple[int, str, Thing | None, Thing | None]]:
        """The commits to objects of a kind."""
        return [commit for commit in self.model.commits if plural_of(commit[1]) == plural]

    def point(self, place: int, plural: str, said: str) -> str:
        """The revision a reader names."""
        reach = self.reach(place, plural)
        return {"now": str(self.model.rv), "old": str(max(1, reach - 2)),
                "next": str(self.model.rv + 1)}.get(said, said)  # fmt: skip

    def reaching(self, place: int, plural: str, at: str) -> Generator[None, None, int]:
        """Wait until a server has read so far (API-39)."""
        if at != "0" and self.reach(place, plural) < int(at):
            yield
            if self.reach(place, plural) < int(at):
                raise Refused(504)
        return self.reach(place, plural)

    @rule(place=servers, key=keys, said=points)
    def get(self, place: int, key: str, said: str) -> None:
        """One object: as it is, or as the server has read it."""
        plural = plural_of(key)
        at = self.point(place, plural, said)

        def doing() -> Doing:
            if not at:
                return self.model.found(key)
            upto = yield from self.reaching(place, plural, at)
            there = self.model.at(upto)
            if key not in there:
                raise Refused(404)
            return there[key]

        self.ask(place, about("get", key, revision=Revision(at)), doing())

    @rule(place=servers, plural=plurals, said=points, is_exact=st.booleans(), app=apps)
    def list(self, place: int, plural: str, said: str, is_exact: bool, app: str) -> None:
        """All of a kind, or those of an app."""
        at = self.point(place, plural, said)
        is_exact = is_exact and said in ("now", "old")

        def doing() -> Doing:
            upto = self.model.rv
            if is_exact:
                upto = int(at)
            elif at:
                upto = yield from self.reaching(place, plural, at)
            there = self.model.at(upto)
            return str(upto), [
                thing for key, thing in sorted(there.items())
                if key.startswith(f"{plural}/") and is_of(thing, app)
            ]  # fmt: skip

        options: Map[Any] = Map(match="Exact") if is_exact else Map()
        operation = Operation("list", plural, revision=Revision(at), options=options,
                              selector=selecting(app))  # fmt: skip
        self.ask(place, operation, doing())

    @rule(place=servers, plural=plurals, app=apps, back=st.integers(-1, 6))
    def watch(self, place: int, plural: str, app: str, back: int) -> None:
        """A watch from what there is, or from a while ago."""
        reach = self.reach(place, plural)
        since = "" if back < 0 else str(max(1, reach - back))
        operation = Operation("watch", plural, revision=Revision(since), selector=selecting(app))

        def doing() -> Doing:
            return None
            yield

        watch = self.ask(place, operation, doing())
        there = self.model.at(reach).items() if not since else ()
        first = [(ADDED, t) for key, t in sorted(there)
                 if key.startswith(f"{plural}/") and is_of(t, app)]  # fmt: skip
        upto = int(since) if since else reach
        is_late = bool(since) and upto < self.began[place]
        self.readers.append(Reader(watch, place, plural, app, first, upto, is_late))

    @precondition(lambda self: self.readers)
    @rule(data=st.data())
    def hear(self, data: Any) -> None:
        """All that a watch has to tell is the history of what it selects, and no more."""
        reader = data.draw(st.sampled_from(self.readers))
        told = []
        while reader.watch.is_ready:
            told.append(reader.watch.take())
        if reader.is_too_late:
            assert [delivery.type for delivery in told] == [ERROR]
            self.readers.remove(reader)
            return
        reach = self.reach(reader.place, reader.plural)
        wanted, reader.first = reader.first, []
        for rv, _, old, new in self.of_kind(reader.plural):
            if reader.upto < rv <= reach and (event := event_of(rv, old, new, reader.app)):
                wanted.append(event)
        reader.upto = reach
        assert [(d.type, self.abstract(shown_of(d))) for d in told] == wanted

    # -- what else happens ----------------------------------------------------------------------

    @precondition(lambda self: self.flying)
    @rule(data=st.data(), parts=parts)
    def go_on(self, data: Any, parts: int) -> None:
        """One part more of something that is half done, or all of it."""
        self.go_on_with(data.draw(st.sampled_from(self.flying)), parts)

    @rule(plural=plurals)
    def feed(self, plural: str) -> None:
        """The server that lags reads one Change."""
        change = self.servers[1].cursor(plural).advance()
        assert (change is None) == (self.read[plural] == len(self.of_kind(plural)))
        self.read[plural] += change is not None

    @rule(place=servers)
    def crash(self, place: int) -> None:
        """A server is gone, with all that it had half done and all its watches; and is back."""
        server = self.servers[place]
        for asked in [asked for asked in self.flying if asked.server is server]:
            asked.handler.close()
            asked.doing.close()
            self.flying.remove(asked)
        self.readers = [reader for reader in self.readers if reader.place != place]
        server.restart()
        self.views[place].own.clear()
        self.began[place] = self.model.rv
        for plural in self.read if place else ():
            server.cursor(plural)
            self.read[plural] = len(self.of_kind(plural))

    @rule(seconds=st.integers(1, 40))
    def time_passes(self, seconds: int) -> None:
        """It does."""
        self.model.now_s += seconds

    def teardown(self) -> None:
        """Whatever is half done is done; then no claim is breached at rest."""
        while self.flying:
            self.go_on_with(self.flying[0], parts=9)
        for claim in self.claims:
            said = claim.end(self.world.evidence)
            assert said is None, f"{claim.name}: {said}"


def about(verb: str, key: str, **said: Any) -> Operation:
    """An Operation about what stands at a key."""
    plural, *namespace, name = key.split("/")
    return Operation(verb, plural, name, "".join(namespace), **said)


def covering(app: str) -> PodDisruptionBudgetSpec:
    """What makes a budget cover an app."""
    return PodDisruptionBudgetSpec(
        min_available=1, selector=LabelSelector(Map(app=app) if app else Map())
    )


def limiting(limit: int, scope: str) -> QuotaSpec:
    """The spec of a quota: it counts the pods of a class, or all, up to a number."""
    asked = ScopedRequirement("PriorityClass", "In", (scope,))
    return QuotaSpec(amounts(limit), scope_selector=ScopeSelector((asked,)) if scope else None)


def scope_of(spec: QuotaSpec) -> str:
    """The class that a quota is about; empty: all."""
    return spec.scope_selector.match_expressions[0].values[0] if spec.scope_selector else ""


def amounts(pods: int | None) -> Map[Any]:
    """A number of pods as quotas have it; or nothing at all."""
    return Map() if pods is None else Map(pods=whole(pods))


def amount(amounts: Any) -> int | None:
    """The other way."""
    return amounts["pods"].whole if "pods" in amounts else None


def with_status(pod: Pod, phase: str, is_ready: bool) -> Pod:
    """A pod with a status by its kubelet."""
    old = pod.status.conditions
    was = condition.find(old, "Ready")
    ready = Condition("Ready", str(is_ready)) if was is None else attrs.evolve(
        was, status=str(is_ready))  # fmt: skip
    new = (*old, ready) if was is None else tuple(ready if c is was else c for c in old)
    status = attrs.evolve(pod.status, phase=phase, conditions=new)
    return attrs.evolve(pod, status=status)


def selecting(app: str) -> Selector:
    """Those of an app; all, if none is named."""
    return Selector(labels=labels.parse(f"app={app}")) if app else Selector()


def is_of(thing: Thing | None, app: str) -> bool:
    """What that means in the model."""
    return thing is not None and (not app or thing["labels"].get("app") == app)


def event_of(rv: int, old: Thing | None, new: Thing | None, app: str) -> tuple[str, Thing] | None:
    """What a watch on an app tells of a commit (API-45, API-6); None: nothing."""
    was, is_now = is_of(old, app), is_of(new, app)
    if is_now:
        assert new is not None
        return (MODIFIED if was else ADDED), new
    if was:
        assert old is not None
        return DELETED, {**old, "rv": str(rv)}
    return None


def shown_of(delivery: Delivery) -> Any:
    """The object that a delivery shows."""
    return delivery.object


def run(examples: int, steps: int) -> int:
    """Run the machine so often; how many operations it has begun."""
    before = Machine.operations
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None,
            database=None, suppress_health_check=list(HealthCheck), report_multiple_bugs=False,
            phases=(Phase.generate, Phase.shrink),
        ),
    )  # fmt: skip
    return Machine.operations - before


CITED = ("INV-1", "INV-2", "INV-3", "INV-4", "INV-6", "INV-33", "API-26", "API-51")


@pytest.mark.spec(*CITED)
def test_the_servers_do_as_the_model() -> None:
    """Some thousand operations, with all that may come between them."""
    assert run(examples=60, steps=40) > 1000


@pytest.mark.long
@pytest.mark.spec(*CITED)
def test_the_servers_do_as_the_model_for_long() -> None:
    """A hundred thousand operations and more."""
    assert run(examples=2500, steps=80) >= 100_000
