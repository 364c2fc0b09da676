"""Behind: what stands behind an act that was right: the acts of others that it went by.

A kubelet that refuses a pod, or a warehouse that marks an order as failed, is not the cause: it
reports one. What it reports was done by others, and it knew of both ends of that.

1. The *reporter* is an act that the Violation is about. What it went by are the writes of others to
   the objects that its task knew when it decided.
2. These writes are judged as if the Violation was about them, and about those objects; but only
   news that the reporter had counts as what these others should have known.
3. If that shows nothing, what stands behind them is looked at, a few times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from testbed.store.footprint import has_read
from testbed.story.knowledge import Act, Version
from testbed.story.slice import Slice

DEEP_MAX = 3
"""At most this many reporters, one behind another."""
WITHIN_MAX = 60
"""At most this many acts are looked at behind one reporter, the last ones."""


class Behind(Slice):
    """The same Run, seen from behind one act that the Violation is about."""

    is_behind: ClassVar[bool] = True
    reporter: Act
    """The act that only reports."""
    known: frozenset[tuple[str, int]]
    """The writes that its task knew of, by object and Step."""

    @classmethod
    def of(cls, slice_: Slice, reporter: Act) -> Behind | None:
        """What stands behind that act; None if it went by nothing that others wrote."""
        known = list(_known(slice_, reporter))
        marks = {(version.key, version.step) for version in known}
        acts = [
            act
            for act in slice_.knowledge.acts
            if act.actor != reporter.actor and act.step in slice_.needed
            if any((version.key, version.step) in marks for version in act.versions)
        ]
        if not acts:
            return None
        found = cls.__new__(cls)
        found.__dict__.update(slice_.__dict__)
        found.reporter, found.known = reporter, frozenset(marks)
        named = slice_.named_keys
        # Of what it went by, what was done to the objects that the Violation names comes first.
        ranked = sorted(acts, key=lambda act: (named.isdisjoint(act.keys), -act.step))
        found.named_keys = named | {version.key for version in known} | _about(slice_)
        found.__dict__["breaking"] = ranked[:WITHIN_MAX]
        found.__dict__["shared"] = slice_.shared | found.named_keys
        return found

    def has(self, version: Version | None) -> bool:
        """Whether the reporter knew of that write, or the Violation is about it."""
        is_about = version is not None and version.step in self.about
        return version is None or is_about or (version.key, version.step) in self.known


def _known(slice_: Slice, act: Act) -> Iterator[Version]:
    """The writes of others that the task of that act knew of when it decided, and those of what its
    Endpoint had looked at."""
    sent = slice_.requests.of(act.step) if act.versions else None
    for part in sent.parts if sent is not None else ():
        for key, versions in slice_.knowledge.versions.items():
            for version in versions if has_read(part.marks.reads, key) else ():
                if version.step < part.number and version.actor != act.actor:
                    yield version
    for key, versions in slice_.knowledge.versions.items():
        known = slice_.knowledge.known(act.path, key, act.decided)
        if known is None:
            continue
        for version in versions:
            is_known = version.revision <= known.sighting.revision and version.step < act.decided
            if is_known and version.actor != act.actor:
                yield version


def _about(slice_: Slice) -> set[str]:
    """The objects that the Violation is about, named or not."""
    written = ((key, v) for key, some in slice_.knowledge.versions.items() for v in some)
    return {key for key, version in written if version.step in slice_.about}


def all_behind(slice_: Slice) -> Iterator[Behind]:
    """What stands behind each act that the Violation is about; then behind those; and so on."""
    level = [slice_]
    done: set[tuple[int, str]] = set()
    for _ in range(DEEP_MAX):
        below: list[Slice] = []
        for each in level:
            for act in each.breaking[:WITHIN_MAX]:
                if (act.step, act.actor) in done:
                    continue
                done.add((act.step, act.actor))
                if (found := Behind.of(each, act)) is not None:
                    below.append(found)
                    yield found
        level = below
