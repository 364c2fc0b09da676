"""CrashOver: a crash of a program that has something half done."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

import attrs

from testbed.fault import Levers, Way
from testbed.faults.crash import Crash
from testbed.store.footprint import Footprint


@attrs.frozen(kw_only=True)
class CrashOver(Crash):
    """Crash, but only while a certain request of its target is under way: so a search wastes no
    fault on moments at which nothing is half done.

    It strikes in fewer ways than its kind. In a race file it is a plain crash.
    """

    over: str
    """Which request, as a glob: `create/binding pods/*`, `patch nodes/*`."""
    is_served: bool
    """Whether that has taken effect, and its target is not told yet; else it has had no effect."""

    def ways(self, levers: Levers) -> Iterator[Way]:
        """Those of a crash, as long as such a request is under way."""
        requests = {
            request.key
            for request in levers.requests(served=self.is_served)
            if self.hits(request.role.name) and fnmatchcase(str(request.operation), self.over)
        }
        for way in super().ways(levers) if requests else ():
            # A crash that could strike no more if that request went on commutes with no turn of it.
            touches = way.touches | Footprint(reads=frozenset(requests))
            yield attrs.evolve(way, touches=touches)
