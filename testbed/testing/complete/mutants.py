"""Complete searches with one unsoundness each, and a World in which it misses a class of Runs.

Each is a part of the search that somebody might leave out, or believe to be of no use. The test of
this file holds what the search as it is sees in these Worlds against every Run there is.

Not among them are parts of the search without which no class was missed in any World that we know:

- that turns of two instants, or of one path, are in order, and that a cause is no race: without it
  the search asks for Runs that there are not, and only plays more;
- that a fault wakes when time has passed, or when what withdraws it happens; that faults clash if
  fewer may strike than are allowed; that each of several faults is tried at once: the turns clash
  all the same, by `log:@time`, by what they share, and by the races of a fault;
- that a search starts over at the first look back, and tells two faults of one sentence apart by
  their settings. These stay: what sleeps at a turn was found without the order of all commits, and
  a fault that shares its name with another would not be tried.

That requests of several lives are told apart, and that a limit may let no fault strike at rest,
needs Worlds that are larger than these: see `tests/choosers/test_once_missed.py`.
"""

from __future__ import annotations

from typing import Any

from testbed.choosers import complete
from testbed.choosers.complete import Complete
from testbed.choosers.equivalence.orders import Keys, Past, Touch
from testbed.choosers.equivalence.tree import TurnNode
from testbed.faults.crash import Crash
from testbed.faults.lose_reply import LoseReply
from testbed.faults.stall import Stall
from testbed.testing.complete import edits
from testbed.testing.complete.unsound import CLAIM, Unsound
from testbed.testing.complete.worlds import Scene

GET, UPDATE, SWAP, LIST = ("get", "x"), ("update", "x"), ("swap", "x"), ("list",)

SWAPS = Scene(((SWAP,), (SWAP,), (GET,)))
"""Two read and write one note, a third reads it: some races are three turns long."""
CREATED = Scene(((("create", "y"),), (LIST,)))
"""A note is there in the list, or it is not."""
UPDATED = Scene(((UPDATE,), (LIST,)))
"""A field of a note is the new one in the list, or the old one."""
SHORT = Scene(((SWAP,), (GET,)), turns_max=5)
"""Each Run is ended by a limit, behind which its races lie."""
JUDGED = Scene(((("create", "y"),), (("create", "z"),)), reads=None)
"""Two creates that commute, but for a claim that may read anything."""
CRASHED = Scene(((UPDATE,), (GET,)), faults=(Crash("*"),))
"""Any of two actors crashes, at any turn or at rest."""
STORELESS = Scene(((UPDATE,), (UPDATE,)), faults=(Crash("store"),))
"""The Store crashes, before or after each write, or at rest."""
IDLE = Scene(((("take",),), (GET,)), faults=(Crash("a"),))
"""One that only waits crashes, or not."""
LATE = Scene(((UPDATE,), (("update", "y"),), (("listen", "x", "y"),)), notes=("x", "y"))
"""Two commits that commute, until a watch is opened that hears of both."""
PAST = Scene(((("lease", "l"),), (LIST, ("past", "x", 2))))
"""A commit of another kind takes the revision of which somebody reads a note as it was."""
QUEUE = Scene(((("spawn", "v", (("take",),)), ("spawn", "w", (("take",),)), ("put",)),))
"""One item in a queue, and two tasks that would take it."""
LOTS = Scene(((("pick", "white", "black"),), (GET,)))
"""A pick of two alternatives."""
LOST = Scene(((("cache",), UPDATE),), faults=(LoseReply(),))
"""The reply to a Cache is lost, or that to a write that the Cache hears of."""

TIMED = Scene(((("hurried", "x", 3), ("hurried", "x", 3)),), slow_ms=3)
"""Two requests of one name, each answered at the moment at which its caller gives it up."""
STALLED = Scene(
    ((("spawn", "v", (GET,)), ("spawn", "v", ())),),
    faults=(Stall("*", by_ms=20), Stall("a", until_ms=5, by_ms=3)),
)
"""Two tasks are held up once or twice, for as long as either of two faults says."""


def _without(edit: Any, owner: Any, part: str, scene: Scene) -> Unsound:
    """The search with that part of it edited. The edit says by its name and its docstring what is
    wrong then."""
    name = edit.__name__.replace("_", "-")
    breaks = (edit.__doc__ or "").splitlines()[0].rstrip(".")
    breaks = breaks[:1].lower() + breaks[1:]
    return Unsound(name, breaks, scene.build, CLAIM, scene=scene, edits=((owner, part, edit),))


MUTANTS = (
    _without(edits.nothing_touched, Keys, "touch", CREATED),
    _without(edits.no_reads, Touch, "clashes", CREATED),
    _without(edits.no_writes, Touch, "clashes", JUDGED),
    _without(edits.no_logs, Keys, "_all", CREATED),
    _without(edits.fields_apart, Keys, "_number", UPDATED),
    _without(edits.only_the_latest_race, Past, "add", SWAPS),
    _without(edits.not_the_latest_race, Past, "add", CREATED),
    _without(edits.any_initial, Past, "reversed", SWAPS),
    _without(edits.what_follows_too, Past, "reversed", SWAPS),
    _without(edits.nothing_late, Complete, "_grow", JUDGED),
    _without(edits.nothing_open, complete, "open_part", LATE),
    _without(edits.never_looks_back, complete, "open_part", PAST),
    _without(edits.never_wakes, TurnNode, "still_asleep", CREATED),
    _without(edits.withdrawn_unwanted, TurnNode, "withdraw", QUEUE),
    _without(edits.nothing_left_over, Complete, "_left_over", QUEUE),
    _without(edits.known_by_name, TurnNode, "still_there", TIMED),
    _without(edits.never_silent, TurnNode, "silences", LOST),
    _without(edits.faults_never_silent, TurnNode, "silences", LOST),
    _without(edits.silent_only_once, Complete, "_silent_races", LOST),
    _without(edits.no_fault_at_rest, Complete, "strike", STORELESS),
    _without(edits.struck_or_not_at_all, TurnNode, "__init__", IDLE),
    _without(edits.faults_race_with_nothing, Complete, "_race", STORELESS),
    _without(edits.due_to_the_turn_before, Complete, "_race", STALLED),
    _without(edits.two_at_most, TurnNode, "want", CRASHED),
    _without(edits.limits_hide, Complete, "_left_over", SHORT),
    _without(edits.nothing_else_wanted, TurnNode, "want_all", SHORT),
    _without(edits.last_alternative_untried, complete, "Fork", LOTS),
)
"""All of them; `testbed mutants testbed.choosers.complete` hunts them."""
