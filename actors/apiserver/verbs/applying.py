"""Applying: what server-side apply makes of an object, and who owns its fields then (API-65).

A program says all that it wants of an object, again and again. What it said before and says no
longer goes, unless somebody else owns it. What somebody else owns and has another value is a
conflict, unless the program takes it by force.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from actors.apiserver.call import Call
from actors.apiserver.verbs.field_sets import (
    Path,
    laid_over,
    shown,
    values_of,
    without,
)
from actors.apiserver.verbs.ownership import (
    APPLY,
    METADATA,
    NOTHING,
    RECORD,
    UPDATE,
    Claimant,
    FieldChanges,
    OwnedFields,
    Owners,
    claimant_of,
    left_by,
    now_of,
    owners_of,
    with_owners,
    within,
)
from testbed.errors import BadRequest, Conflict
from testbed.objects.codec import decode, encode
from testbed.objects.form import from_tree, to_tree
from testbed.objects.settled import settled

Tree = dict[str, Any]
BEFORE = "before-first-apply"
"""Who owns the fields of an object that had no record until something was applied to it."""
KUBECTL = "kubectl"
"""What `kubectl apply --server-side` calls itself."""
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""Where `kubectl apply` without `--server-side` notes what it has said."""
Conflicts = list[tuple[Claimant, Path]]


def applied(call: Call, old: Any = None) -> Any:
    """The object after the apply, with its record; without `old` a new one. Conflict, BadRequest,
    or Misfit if that is no object of its kind."""
    wanted, me = _wanted(call), claimant_of(call, APPLY)
    live = {} if old is None else to_tree(settled(old))
    owners = _owners_before(call, old)
    before = owners.pop(me, NOTHING)
    last = before.paths
    said = frozenset(values_of(wanted))
    held = said.union(*(owned.paths for owned in owners.values()))
    tree = laid_over(live, wanted)
    for path in _dropped(last, held):
        tree = without(tree, path)
    new = settled(from_tree(call.kind, tree))
    changes = FieldChanges.between(call, old, new)
    conflicts = [
        (who, path)
        for who, owned in owners.items()
        for path in sorted(owned.paths & changes.written)
    ]
    if not call.options.get("force"):
        _check(_less_what_kubectl_said(me, live, conflicts))
    mine = within(call, said)
    is_changed = mine != last or changes.written or changes.removed
    owners = left_by(changes, owners)
    owners[me] = OwnedFields(mine, now_of(call) if is_changed else before.time)
    return with_owners(_with_note_of_kubectl(me, new, wanted), owners)


def _wanted(call: Call) -> Tree:
    """What is applied, with the name and the namespace of the request; BadRequest if it is about
    another object."""
    body, operation, kind = call.operation.body, call.operation, call.kind
    if not isinstance(body, Mapping) or not isinstance(body.get(METADATA, {}), Mapping):
        raise BadRequest(f"{operation}: what is applied is a mapping, with a mapping as metadata")
    if not body.get("kind"):
        raise BadRequest(f"Object 'Kind' is missing in '{encode(body).decode()}'")
    if body["kind"] != kind.kind:
        raise BadRequest(f"{operation}: expected a {kind.kind}, found {body['kind']}")
    version = body.get("apiVersion", kind.api_version)
    if version != kind.api_version:
        raise BadRequest(
            "Incorrect version specified in apply patch. Specified patch version: "
            f"{version}, expected: {kind.api_version}"
        )
    meta = body.get(METADATA, {})
    if meta.get(RECORD) is not None:
        raise BadRequest("metadata.managedFields must be nil")
    for field, named in (("name", operation.name), ("namespace", operation.namespace)):
        if (meta.get(field) or named) != named:
            raise BadRequest(
                f"the {field} of the object ({meta[field]}) does not match the {field} on the URL "
                f"({named})"
            )
    identity = {"name": operation.name, "namespace": operation.namespace}
    return {**body, METADATA: {**meta, **{name: said for name, said in identity.items() if said}}}


def _owners_before(call: Call, old: Any) -> Owners:
    """Who owns what. An object without a record was made by somebody, who owns all of it."""
    owners = {} if old is None else owners_of(old)
    if owners or old is None:
        return owners
    paths = within(call, values_of(to_tree(old)))
    before = Claimant(BEFORE, UPDATE, call.kind.api_version, call.operation.subresource)
    return {before: OwnedFields(paths, now_of(call))}


def _dropped(last: frozenset[Path], held: frozenset[Path]) -> Iterator[Path]:
    """What is to be removed of what was applied last, since nobody holds it now; the whole of a
    mapping, or of an item, if nobody holds any of it."""
    kept = {path[:n] for path in held for n in range(1, len(path) + 1)}
    for path in sorted(last - held):
        # Nothing if it was empty when it was applied, and somebody holds a part of it by now.
        yield from islice((path[:n] for n in range(1, len(path) + 1) if path[:n] not in kept), 1)


# -- conflicts ------------------------------------------------------------------------------------


def _check(conflicts: Conflicts) -> None:
    """Raise Conflict, with a cause for each field that somebody else owns."""
    if not conflicts:
        return
    causes = tuple(f"{shown(path)}: conflict with {who}" for who, path in conflicts)
    if len(conflicts) == 1:
        who, path = conflicts[0]
        said = f"1 conflict: conflict with {who}: {shown(path)}"
    else:
        lines = []
        for who in sorted({who for who, _ in conflicts}, key=str):
            paths = [shown(path) for each, path in conflicts if each == who]
            lines += [f"conflicts with {who}:", *(f"- {path}" for path in paths)]
        said = f"{len(conflicts)} conflicts: " + "\n".join(lines)
    raise Conflict(f"Apply failed with {said}", causes=causes)


def _less_what_kubectl_said(me: Claimant, live: Tree, conflicts: Conflicts) -> Conflicts:
    """The conflicts, without those that kubectl has with itself: it said these values, the other
    way, and nobody has changed them since."""
    if me.name != KUBECTL or not conflicts:
        return conflicts
    try:
        noted = values_of(decode(live[METADATA].get("annotations", {}).get(LAST_APPLIED, "{}")))
    except (ValueError, RecursionError):
        return conflicts
    there = values_of(live)
    return [
        (who, path)
        for who, path in conflicts
        if path not in noted or path not in there or noted[path] != there[path]
    ]


def _with_note_of_kubectl(me: Claimant, item: Any, wanted: Tree) -> Any:
    """The object, its note kept true if it has one and it is kubectl that applies."""
    notes = item.meta.annotations
    if me.name != KUBECTL or not notes.get(LAST_APPLIED):
        return item
    note = encode(wanted).decode() + "\n"
    return item.with_meta(annotations=notes.having(**{LAST_APPLIED: note}))
