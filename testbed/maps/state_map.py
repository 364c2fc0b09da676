"""StateMap: every state that a small World can be in, every move between them, every end."""

from __future__ import annotations

from typing import Any

import attrs

from testbed.maps.believing import Tables
from testbed.maps.describing import Shown
from testbed.maps.graph import MapPlace
from testbed.maps.merging import Merged
from testbed.maps.walking import RESTS, EndFound


@attrs.frozen
class StateMap:
    """A complete map; `places[0]` is the start."""

    said: str
    """The World in words."""
    bounds: str
    """What was left out, in a sentence."""
    places: list[MapPlace]
    ends: list[EndFound]
    shortest: list[tuple[int, ...]]
    """For each end, the states on the way there with the fewest moves that are not calm."""
    lanes: list[str]
    """The actors, by name."""
    tables: Tables
    runs: int
    """How many Runs were played for it."""
    moves_made: int
    """How many moves were tried: the arcs of the graph."""
    unlike: int
    """How many states could not be compared, and so are never the same as another."""

    @property
    def states(self) -> int:
        """How many states it has."""
        return len(self.places)

    def as_dict(self) -> Shown:
        """The map as a page takes it: `MapData` in `testbed/page/assets/types.d.ts`. States that no
        reader can tell apart are one there."""
        merged = Merged(self.places, RESTS)
        moves: dict[tuple[str, str, str], int] = {}
        states: list[dict[str, Any]] = []
        for place in merged.places:
            onward = []
            for said, arc, to in merged.moves(place):
                move = moves.setdefault((said, arc.actor, arc.kind), len(moves))
                onward.append([move, to])
            states.append(
                {
                    "next": onward,
                    "end": place.end,
                    "ms": place.ms,
                    "truth": place.truth,
                    "beliefs": list(place.beliefs),
                }
            )
        return {
            "said": self.said,
            "bounds": self.bounds,
            "moves": [dict(zip(("said", "actor", "kind"), move, strict=True)) for move in moves],
            "versions": self.tables.versions,
            "sets": self.tables.sets,
            "lanes": self.lanes,
            "states": states,
            "ends": [
                {
                    "outcome": end.outcome,
                    "claim": ", ".join(end.claims),
                    "said": end.said,
                    "shortest": merged.way(way),
                }
                for end, way in zip(self.ends, self.shortest, strict=True)
            ],
        }
