"""Update and patch: replace or change an object, except for what such a write may not change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from actors.apiserver import rules
from actors.apiserver.admission import steps as admission
from actors.apiserver.call import MODIFIED, Call, conflict, invalid
from actors.apiserver.kind_rules import rules_of
from actors.apiserver.verbs.applying import applied
from actors.apiserver.verbs.create import body_of, made
from actors.apiserver.verbs.json_patching import json_patched
from actors.apiserver.verbs.ownership import noted
from actors.apiserver.verbs.part_patching import patched_by_part
from actors.apiserver.verbs.patching import patched
from testbed.errors import AlreadyExists, BadRequest
from testbed.objects import Map
from testbed.objects.form import NOTHING, from_tree, read_part, to_tree, write_part
from testbed.objects.meta import text_of
from testbed.objects.plain import Misfit
from testbed.objects.settled import settled
from testbed.store.endpoint import Handler
from testbed.store.precondition import named_revision
from testbed.store.store_endpoint import is_at

STATUS = {"status"}


def update(call: Call) -> Handler:
    """Replace the object, if it is still at the revision that its caller has read (API-11)."""
    new = body_of(call)
    return (yield from revise(call, lambda old: new))


def patch(call: Call) -> Handler:
    """Apply a patch to the object as it is now, so that no change of other fields is lost
    (API-13). An object that is not there is made of what is applied (API-65)."""
    while True:
        is_there = call.current_at(call.operation.key) is not None
        if call.options.get("how") != "apply" or is_there or call.operation.subresource:
            return (yield from revise(call, lambda old: patched_by(call, old)))
        try:
            return (yield from made(call, rules.complete(patched_by(call))))
        except AlreadyExists:
            # Somebody else has made it meanwhile, so it is no longer to be made.
            continue


def patched_by(call: Call, old: Any = None) -> Any:
    """The object after the patch; Invalid or BadRequest if that cannot be."""
    body, how = call.operation.body, call.options.get("how", "merge")
    kind = call.kind if old is None else type(old)
    try:
        if how == "apply":
            new = applied(call, old)
        elif how == "json":
            new = from_tree(kind, _json_patched(call, to_tree(old), body))
        else:
            new = patched_by_part(old, body, how)
            if new is None:
                new = _patched_by_tree(call, old)
    except Misfit as error:
        raise invalid(kind, call.operation.name, error.path, str(error)) from error
    except ValueError as error:
        raise BadRequest(f"{call.operation}: {error}") from error
    if old is None:
        return new
    # A tree has only the text. The Revision itself says whether to compare it is a look.
    named = _named(body) or old.meta.revision
    is_named = text_of(new.meta.revision) == text_of(named)
    return new.with_meta(revision=named) if is_named else new


def _json_patched(call: Call, tree: Any, body: Any) -> Any:
    """The tree after a JSON patch. A step that looks at the revision looks at a number, and what
    that means depends on the order of all commits."""
    if isinstance(body, tuple) and any(
        isinstance(step, Mapping) and named_revision(step) for step in body
    ):
        call.server.store.look_back()
    return json_patched(tree, body)


def _named(body: Any) -> Any:
    """The revision that a patch names as the one it was made from, if it is an object."""
    return named_revision(body) if isinstance(body, Map) else None


def _patched_by_tree(call: Call, old: Any) -> Any:
    """The object after the patch, which is applied to its tree. A patch of the status alone turns
    only that into a tree and back."""
    body, how = call.operation.body, call.options.get("how", "merge")
    if call.operation.subresource != "status" or not isinstance(body, Map) or {*body} != STATUS:
        return from_tree(type(old), patched(to_tree(old), body, how))
    beside = {name: rest for name, rest in old.extra.items() if name != "status"}
    was = write_part(old.status, old.extra.get("status", NOTHING))
    tree = patched({"status": was}, body, how).get("status", {})
    status, rest = read_part(type(old.status), tree, "status")
    extra = Map({**beside, "status": rest} if rest else beside)
    return attrs.evolve(old, status=status, extra=extra)


def revise(call: Call, made_of: Callable[[Any], Any]) -> Handler:
    """Commit what `made_of` makes of the object, after checks and admission (API-18)."""
    # The same loop as GuaranteedUpdate in Kubernetes. Admission may look at other objects, and
    # then other requests come between. If the object has changed by then, the change is made again
    # from what it is now: a patch so succeeds on the newer object, while an update, which names
    # the revision it was made from, is refused by `check_preconditions`.
    while True:
        found = call.current()
        old = rules.complete(found)
        new = made_of(old)
        check_preconditions(call, old, new)
        old, new = settled(old), settled(new)
        new = rules.merged(rules.complete(new), old, call.operation.subresource)
        if call.options.get("how") != "apply":
            new = noted(call, new, old)
        rules.check_finalizers(new, old)
        if call.operation.subresource:
            rules.check_names(new, old)
        else:
            new = yield from admission.admit_change(call, new, old)
        if call.current_at(old.key) is found:
            break
    if new.is_as(old):
        return old
    if _is_free_to_go(new, old):
        call.remove(old)
        return new
    return call.put(new)


def check_preconditions(call: Call, old: Any, new: Any) -> None:
    """Raise Conflict if the object has not the uid or the revision that the caller has read."""
    mine, theirs = new.meta, old.meta
    if mine.uid and mine.uid != theirs.uid:
        why = f"UID in precondition: {mine.uid}, UID in object meta: {theirs.uid}"
        raise conflict(type(old), theirs.name, f"Precondition failed: {why}")
    if text_of(mine.revision) in ("", "0"):
        if rules_of(old).is_conditional:
            raise invalid(
                type(old), theirs.name, "metadata.resourceVersion",
                "Invalid value: 0x0: must be specified for an update",
            )  # fmt: skip
    elif not is_at(call.server.store, mine.revision, theirs.revision):
        raise conflict(type(old), theirs.name, MODIFIED)


def _is_free_to_go(new: Any, old: Any) -> bool:
    """Whether nothing holds the object any longer, and it is to be deleted at once (API-30)."""
    return old.meta.is_terminating and not new.meta.finalizers and not old.meta.grace_s
