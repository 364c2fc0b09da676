"""API servers with one bug each, and the claim of the protocol that must find it.

Each mutant names the part that it replaces: a verb, the Call that verbs commit by, the kind of
Watch that is opened, or how a new object is stamped. All else is the ApiServer as it is.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from actors.apiserver.call import Call
from actors.apiserver.proving_ground import competing_clients
from actors.apiserver.server import VERBS, ApiServer, Verb
from actors.apiserver.verbs import bind as binding
from actors.apiserver.verbs import delete as deleting
from actors.apiserver.verbs import evict as evicting
from actors.apiserver.verbs import patching
from actors.apiserver.verbs import read as reading
from actors.apiserver.verbs import update as updating
from testbed.objects import Binding, Map, Object, Revision
from testbed.objects.form import from_tree, to_tree
from testbed.store.change import Change
from testbed.store.delivery import Delivery
from testbed.store.endpoint import BETWEEN, Handler, Listing
from testbed.store.watch import Watch
from testbed.testing.mutant import Mutant

# -- writes ---------------------------------------------------------------------------------------


def update_whatever_was_read(call: Call) -> Handler:
    """Does not compare the revision."""
    old, body = call.current(), call.operation.body
    meta = attrs.evolve(body.meta, revision=old.meta.revision)
    return (yield from updating.revise(call, lambda _: attrs.evolve(body, meta=meta)))


def update_nothing(call: Call) -> Handler:
    """Commits an update that changes nothing."""
    old, body = call.current(), call.operation.body
    updating.check_preconditions(call, old, body)
    return call.put(old)
    yield


def update_all(call: Call) -> Handler:
    """Takes even the fields that belong to the server from the body."""
    old, body = call.current(), call.operation.body
    updating.check_preconditions(call, old, body)
    return call.put(body)
    yield


def patch_what_was_read(call: Call) -> Handler:
    """Reads the object, lets others write it, and writes back the whole of what it has read."""
    old = call.current()
    tree = patching.patched(to_tree(old), call.operation.body, call.options.get("how", "merge"))
    yield BETWEEN
    call.current()
    return call.put(from_tree(call.kind, tree))


def patch_whole(call: Call) -> Handler:
    """Replaces all labels by those that the patch names."""
    old, body = call.current(), call.operation.body
    meta = body.get("metadata") or {}
    new = from_tree(call.kind, patching.patched(to_tree(old), body, "merge"))
    if "labels" in meta:
        new = new.with_meta(labels=Map(meta["labels"]))
    return (yield from updating.revise(call, lambda _: new))


def bind_anyhow(call: Call, *, twice: bool = False, going: bool = False) -> Handler:
    """Binds a pod even if it has a node (`twice`), or is being deleted (`going`)."""
    pod, body = call.current(), call.operation.body
    assert isinstance(body, Binding)
    if (pod.spec.node_name and not twice) or (pod.meta.is_terminating and not going):
        return (yield from binding.bind(call))
    spec = attrs.evolve(pod.spec, node_name=body.target.name)
    new = attrs.evolve(pod, spec=spec)
    return pod if new.is_as(pod) else call.put(new)


# -- deletions ------------------------------------------------------------------------------------


def delete_unmarked(call: Call) -> Handler:
    """Removes a pod that has no node by one commit, without marking it first."""
    pod = call.current()
    meta = pod.meta
    if not pod.spec.node_name and not meta.is_terminating and not meta.finalizers:
        call.remove(pod)
        return pod
    return (yield from deleting.delete(call))


def delete_too_soon(call: Call) -> Handler:
    """Removes a pod that has grace left, without first committing that it has none."""
    pod = call.current()
    if call.options.get("grace_s") == 0 and pod.meta.grace_s and not pod.meta.finalizers:
        call.remove(pod)
        return pod
    return (yield from deleting.delete(call))


def delete_at_once(call: Call) -> Handler:
    """Gives no pod any grace."""
    wish = attrs.evolve(deleting.Wish.of(call), grace_s=0)
    return (yield from deleting.remove(call, wish))


def delete_what_is_held(call: Call) -> Handler:
    """Ignores finalizers."""
    item = yield from deleting.delete(call)
    if item.meta.finalizers and not item.meta.grace_s:
        call.remove(item)
    return item


def delete_half(call: Call) -> Handler:
    """Answers after the first commit of a delete, and never makes the second."""
    handler = deleting.delete(call)
    try:
        next(handler)
    except StopIteration as done:
        return done.value
    return call.current()
    yield


def delete_later(call: Call) -> Handler:
    """Lets a later delete make the grace longer."""
    pod, grace_s = call.current(), call.options.get("grace_s")
    if pod.meta.grace_s and grace_s is not None and grace_s > pod.meta.grace_s:
        by_ms = pod.meta.deleted_ms + (grace_s - pod.meta.grace_s) * 1000
        return call.put(pod.with_meta(deleted_ms=by_ms, grace_s=grace_s))
    return (yield from deleting.delete(call))


def delete_another(call: Call) -> Handler:
    """Ignores the uid and the revision that its caller names."""
    wish = attrs.evolve(deleting.Wish.of(call), uid="", revision=Revision())
    return (yield from deleting.remove(call, wish))


# -- evictions ------------------------------------------------------------------------------------


class AllowsOneMore(Call):
    """Reads a budget that is used up as one that allows one more disruption."""

    def current_at(self, key: str) -> Any:
        item = super().current_at(key)
        if not key.startswith("poddisruptionbudgets/") or item.status.disruptions_allowed:
            return item
        return attrs.evolve(item, status=attrs.evolve(item.status, disruptions_allowed=1))

    def put(self, item: Any) -> Any:
        if item.plural == "poddisruptionbudgets":
            left = super().current_at(item.key).status.disruptions_allowed - 1
            item = attrs.evolve(item, status=attrs.evolve(item.status, disruptions_allowed=left))
        return super().put(item)


class WritesNoBudget(Call):
    """Does not commit what an eviction takes from a budget."""

    def put(self, item: Any) -> Any:
        return item if item.plural == "poddisruptionbudgets" else super().put(item)


class TakesNoDisruption(Call):
    """Notes the pod in its budget, and leaves the number of disruptions allowed as it was."""

    def put(self, item: Any) -> Any:
        if item.plural == "poddisruptionbudgets":
            had = self.current_at(item.key).status.disruptions_allowed
            status = attrs.evolve(item.status, disruptions_allowed=had)
            item = attrs.evolve(item, status=status)
        return super().put(item)


def evict_by(calls: type[Call], call: Call) -> Handler:
    """An eviction by another Call."""
    return (yield from evicting.evict(calls(call.server, call.operation, call.caller, call.now_ms)))


# -- reads ----------------------------------------------------------------------------------------


def list_of_tomorrow(call: Call) -> Handler:
    """Names a revision that does not exist yet."""
    listing: Listing = yield from reading.list_(call)
    return attrs.evolve(listing, revision=Revision(call.server.store.revision + 1))


def list_of_two_revisions(call: Call) -> Handler:
    """Shows each object as it is now, under the revision of its cache."""
    listing: Listing = yield from reading.list_(call)
    found = (call.current_at(item.key) for item in listing.items)
    return attrs.evolve(listing, items=tuple(item for item in found if item is not None))


def list_less(call: Call) -> Handler:
    """Leaves out the last object."""
    listing: Listing = yield from reading.list_(call)
    return attrs.evolve(listing, items=listing.items[:-1])


def get_from_cache(call: Call) -> Handler:
    """Answers from its cache, though no revision was named."""
    item = call.server.cached(call.operation.plural, call.operation.key)
    if item is None:
        raise call.not_found()
    return item
    yield


# -- watches --------------------------------------------------------------------------------------


class SkipsChanges(Watch):
    """Misses every second Change."""

    def _push(self, change: Change) -> None:
        if change.serial % 2:
            super()._push(change)


class RepeatsChanges(Watch):
    """Delivers each Change twice."""

    def _push(self, change: Change) -> None:
        super()._push(change)
        super()._push(change)


class DeliversNothing(Watch):
    """Delivers no Change at all."""

    def _push(self, change: Change) -> None:
        pass


class ShowsOldObject(Watch):
    """Delivers an object as it was before the Change."""

    def take(self) -> Delivery:
        delivery = super().take()
        change = delivery.change
        if change is None or change.old is None or change.new is None:
            return delivery
        return attrs.evolve(delivery, object=change.old.value)


def watch_by(kind: type[Watch], call: Call) -> Handler:
    """Opens a Watch of that class."""
    watch: Watch = yield from reading.watch(call)
    watch.close()
    return kind(watch.cursor, watch.selector, watch.since, fields=watch.view.fields)


# -- identities and revisions ---------------------------------------------------------------------


class ReusesUids(ApiServer):
    """Gives a new object the uid of the last one of its name."""

    def stamp(self, caller: str, now_ms: int, item: Object) -> Object:
        """A new object with the old uid."""
        return super().stamp(caller, now_ms, item).with_meta(uid=f"{item.meta.name}-1")


class KeepsRevision(Call):
    """Commits an object with the revision that it had before."""

    def put(self, item: Any) -> Any:
        self.server.store.put(item.key, item)
        return item


# -- all of them ----------------------------------------------------------------------------------


def with_verb(asked: str, verb: Verb) -> type[ApiServer]:
    """An ApiServer with another verb in the place of one."""
    return type("OtherVerb", (ApiServer,), {"verbs": {**VERBS, asked: verb}})


def with_calls(calls: type[Call]) -> type[ApiServer]:
    """An ApiServer that hands its verbs another Call."""
    return type("OtherCalls", (ApiServer,), {"calls": calls})


def _mutant(name: str, breaks: str, claim: str, server: type[ApiServer]) -> Mutant:
    return Mutant(name, breaks, partial(competing_clients, server=server), claim)


def _verb(name: str, breaks: str, claim: str, asked: str, verb: Verb) -> Mutant:
    return _mutant(name, breaks, claim, with_verb(asked, verb))


UPDATES, PATCHES, LIVES = "no_update_is_lost", "patches_change_what_they_say", "lives_go_one_way"
TIME, BUDGETS = "pods_are_given_their_time", "evictions_keep_to_budgets"
READS, WATCHES, REVISIONS = "answers_show_what_was", "watches_are_gap_free", "revisions_increase"
EVICT = "create/eviction"
MUTANTS = (
    _verb("stale-update", "an update of an old revision wins", UPDATES, "update",
          update_whatever_was_read),
    _verb("delete-another", "a delete ignores the uid it names", UPDATES, "delete",
          delete_another),
    _verb("patch-of-old", "a patch writes back all it has read", PATCHES, "patch",
          patch_what_was_read),
    _verb("patch-whole", "a patch of one label drops the others", PATCHES, "patch", patch_whole),
    _verb("bind-twice", "a bound pod is bound again", LIVES, "create/binding",
          partial(bind_anyhow, twice=True)),
    _verb("bind-going", "a terminating pod is bound", LIVES, "create/binding",
          partial(bind_anyhow, going=True)),
    _verb("undelete", "an update unsets the deletion", LIVES, "update", update_all),
    _verb("grace-grows", "a later delete gives more grace", LIVES, "delete", delete_later),
    _verb("unmarked", "one commit removes, where there should be two", TIME, "delete",
          delete_unmarked),
    _verb("too-soon", "a pod that has time left is removed by one commit", TIME, "delete",
          delete_too_soon),
    _verb("at-once", "a bound pod is given no time", TIME, "delete", delete_at_once),
    _verb("held", "a finalizer holds nothing", TIME, "delete", delete_what_is_held),
    _verb("half-deleted", "a delete is answered after its first commit", TIME, "delete",
          delete_half),
    _verb("past-the-budget", "an eviction is granted past its budget", BUDGETS, EVICT,
          partial(evict_by, AllowsOneMore)),
    _verb("unpaid", "an eviction takes no disruption", BUDGETS, EVICT,
          partial(evict_by, TakesNoDisruption)),
    _verb("unwritten", "an eviction does not write its budget", BUDGETS, EVICT,
          partial(evict_by, WritesNoBudget)),
    _verb("future-list", "a list names a revision that is to come", READS, "list",
          list_of_tomorrow),
    _verb("mixed-list", "a list shows two revisions", READS, "list", list_of_two_revisions),
    _verb("short-list", "a list leaves one out", READS, "list", list_less),
    _verb("stale-get", "a get that names no revision is answered from what was read", READS,
          "get", get_from_cache),
    _verb("lost-event", "a watch misses Changes", WATCHES, "watch",
          partial(watch_by, SkipsChanges)),
    _verb("twice-told", "a watch delivers a Change twice", WATCHES, "watch",
          partial(watch_by, RepeatsChanges)),
    _verb("silent-watch", "a watch delivers nothing", WATCHES, "watch",
          partial(watch_by, DeliversNothing)),
    _verb("old-event", "a watch shows what was before", WATCHES, "watch",
          partial(watch_by, ShowsOldObject)),
    _verb("empty-commit", "an update that changes nothing is committed", REVISIONS, "update",
          update_nothing),
    _mutant("old-revision", "a commit leaves the object its revision", REVISIONS,
            with_calls(KeepsRevision)),
    _mutant("same-uid", "a new object has the uid of the old", "every_uid_is_new", ReusesUids),
)  # fmt: skip
"""All of them; `testbed mutants` hunts them."""
