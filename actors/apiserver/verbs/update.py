"""Update and patch: an object becomes another, but for what a write of it may not change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from actors.apiserver import rules
from actors.apiserver.admission import steps as admission
from actors.apiserver.call import MODIFIED, Call, invalid
from actors.apiserver.kind_rules import rules_of
from actors.apiserver.verbs.create import body_of
from actors.apiserver.verbs.patching import patched
from testbed.errors import BadRequest
from testbed.objects import Map
from testbed.objects.form import NOTHING, from_tree, read_part, settled, to_tree, write_part
from testbed.objects.plain import Misfit
from testbed.store.endpoint import Handler

STATUS = {"status"}


def update(call: Call) -> Handler:
    """Replace it by what its caller has made of the revision he has read (API-11)."""
    new = body_of(call)
    return (yield from revise(call, lambda old: new))


def patch(call: Call) -> Handler:
    """Change so much of it as it is now; so nobody's change of other fields is lost (API-13)."""
    return (yield from revise(call, lambda old: _patched(call, old)))


def _patched(call: Call, old: Any) -> Any:
    body, how = call.operation.body, call.options.get("how", "merge")
    try:
        if call.operation.subresource == "status" and isinstance(body, Map) and {*body} == STATUS:
            return _with_status_patched(old, body, how)
        return from_tree(call.kind, patched(to_tree(old), body, how))
    except Misfit as error:
        raise invalid(call.kind, call.operation.name, error.path, str(error)) from error
    except ValueError as error:
        raise BadRequest(f"{call.operation}: {error}") from error


def _with_status_patched(old: Any, body: Map[Any], how: str) -> Any:
    """The same, when it is about the status alone: nothing else need be written out and read."""
    beside = {name: rest for name, rest in old.extra.items() if name != "status"}
    was = write_part(old.status, old.extra.get("status", NOTHING))
    tree = patched({"status": was}, body, how).get("status", {})
    status, rest = read_part(type(old.status), tree, "status")
    extra = Map({**beside, "status": rest} if rest else beside)
    return attrs.evolve(old, status=status, extra=extra)


def revise(call: Call, made_of: Callable[[Any], Any]) -> Handler:
    """Commit what it may become. It is the object's own commit that shows what was read of it to
    be still so; if it has changed while admission looked at others, all begins anew (API-18)."""
    while True:
        found = call.found()
        old = rules.complete(found)
        new = made_of(old)
        check_preconditions(call, old, new)
        old, new = settled(old), settled(new)
        new = rules.merged(rules.complete(new), old, call.operation.subresource)
        rules.check_finalizers(new, old)
        if not call.operation.subresource:
            new = yield from admission.admit_change(call, new, old)
        if call.stands_at(old.key) is found:
            break
    if new.is_as(old):
        return old
    if _is_free_to_go(new, old):
        call.remove(old)
        return new
    return call.put(new)


def check_preconditions(call: Call, old: Any, new: Any) -> None:
    """Conflict if it is not the object, or not the revision of it, that the caller has read."""
    mine, theirs = new.meta, old.meta
    if mine.uid and mine.uid != theirs.uid:
        raise call.conflict(
            f"Precondition failed: UID in precondition: {mine.uid}, UID in object meta: "
            f"{theirs.uid}"
        )
    if not mine.revision or str(mine.revision) == "0":
        if rules_of(old).is_conditional:
            raise invalid(
                type(old), theirs.name, "metadata.resourceVersion",
                "Invalid value: 0x0: must be specified for an update",
            )  # fmt: skip
    elif mine.revision != theirs.revision:
        raise call.conflict(MODIFIED)


def _is_free_to_go(new: Any, old: Any) -> bool:
    """Whether nothing holds it any longer that was to go at once (API-30)."""
    return old.meta.is_terminating and not new.meta.finalizers and not old.meta.grace_s
