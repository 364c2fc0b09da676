"""No update is lost, and a patch changes only what it names (INV-2, API-11 to API-15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from actors.apiserver.invariants.asked import asked_of_server, demand_of
from testbed import Evidence, Invariant
from testbed.invariant import COMMIT
from testbed.objects.form import to_tree
from testbed.store.change import Change
from testbed.turns.found import FORBIDDEN, TAKEN_BACK, Found, Wrong
from testbed.turns.trace import Step

CONDITIONAL = ("leases", "poddisruptionbudgets")
"""Kinds whose updates must name the revision that was read (API-12)."""
KNOWN_BY = {
    "conditions": "type", "containers": "name", "initContainers": "name",
    "ownerReferences": "uid",
}  # fmt: skip
"""Lists that are merged item by item, and the field that identifies an item."""
SERVERS_OWN = ("metadata.generation", "metadata.managedFields", "metadata.resourceVersion")
"""Fields that the server itself changes with every write."""
Tree = Any


class NoUpdateIsLost(Invariant):
    """A request that names a uid or a revision changes that object and no other: since the revision
    that it names, nothing was committed to the object except by this request."""

    name = "no_update_is_lost"
    breach_reason = TAKEN_BACK
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def __init__(self) -> None:
        self._wrote: dict[Any, str] = {}
        """By request under way, the revision of its own last commit to the object it names."""

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        request = asked_of_server(evidence)
        if request is None or request.operation.asked == "create":
            return None
        for change in evidence.changes:
            if change.key == request.operation.key and (wrong := self._wrong_in(request, change)):
                text = f"{request.role.name} {request.operation} at rv {change.revision} {wrong}"
                return Found.of(text, change, actors=request.role.name, since=change.revision)
        if request.is_served:
            self._wrote.pop(request, None)
        return None

    def _wrong_in(self, request: Any, change: Change) -> str:
        operation = request.operation
        wanted, old = demand_of(operation), change.old
        uid = old.value.meta.uid if old is not None else ""  # type: ignore[attr-defined]
        base = str(old.revision) if old is not None else ""
        if wanted.uid and wanted.uid != uid:
            return f"was meant for uid {wanted.uid}, and there was {uid or 'none'}"
        if wanted.revision and base not in (wanted.revision, self._wrote.get(request)):
            return f"was made of rv {wanted.revision}, and there was rv {base or 'none'}"
        if operation.verb == "update" and not wanted.revision and operation.plural in CONDITIONAL:
            return "does not say which revision was read"
        self._wrote[request] = str(change.revision)
        return ""


class PatchesChangeWhatTheySay(Invariant):
    """A patch leaves everything that it does not name as it was. A patch of an object leaves its
    status alone, and a patch of its status leaves its spec alone. A JSON patch and what is applied
    name fields in other ways, and are not judged here."""

    name = "patches_change_what_they_say"
    breach_reason = FORBIDDEN
    reads = frozenset()
    looks_at: ClassVar[frozenset[str]] = frozenset({COMMIT})

    def look(self, step: Step | None, evidence: Evidence) -> Wrong:
        request = asked_of_server(evidence)
        if request is None or request.operation.verb != "patch":
            return None
        operation = request.operation
        if operation.options.get("how") in ("json", "apply"):
            return None
        is_strategic = operation.options.get("how") == "strategic"
        alien = "spec" if operation.subresource == "status" else "status"
        patch = {name: given for name, given in operation.body.items() if name != alien}
        for change in evidence.changes:
            if change.old is None or change.new is None:
                continue
            values: list[Any] = [change.old.value, change.new.value]
            old, new = map(to_tree, values)
            for path in _outside(old, new, patch, "", is_strategic):
                if path not in SERVERS_OWN:
                    who, since = request.role.name, change.revision
                    text = f"{who} {operation} at rv {since} changed {path}, which it does not name"
                    return Found.of(text, change, fields=path, actors=who, since=since)
        return None


def _outside(old: Tree, new: Tree, patch: Tree, path: str, is_strategic: bool) -> Iterator[str]:
    """The paths at which two trees differ and that the patch does not name."""
    if "$patch" in patch or "$retainKeys" in patch:
        return
    old, new = (tree if isinstance(tree, Mapping) else {} for tree in (old, new))
    named = {name.rpartition("/")[2] for name in patch if name.startswith("$")}
    for name in sorted({*old, *new} - named):
        here = f"{path}.{name}" if path else name
        was, now = old.get(name), new.get(name)
        given = patch.get(name, {})
        if was == now:
            continue
        if name not in patch and not isinstance(was, Mapping):
            yield here
        elif isinstance(given, Mapping):
            yield from _outside(was, now, given, here, is_strategic)
        elif is_strategic and name in KNOWN_BY and given is not None:
            yield from _items_outside(was or (), now or (), given, here, KNOWN_BY[name])


def _items_outside(old: Tree, new: Tree, given: Tree, path: str, key: str) -> Iterator[str]:
    """The items at which two lists differ and that the patch does not name."""
    if any(item.get("$patch") == "replace" for item in given):
        return
    named = {item.get(key) for item in given}
    was, now = ({item.get(key): item for item in items} for items in (old, new))
    for each in sorted({*was, *now} - named):
        if was.get(each) != now.get(each):
            yield f"{path}[{each}]"
