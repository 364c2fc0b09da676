"""Stream: an open watch as its reader holds it, and the wait for what it tells next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testbed.client.open_watch import Apply, OpenWatch
from testbed.errors import ApiError
from testbed.turns.life import Seat
from testbed.turns.waits import Waitable


class Stream:
    """One open watch, as its reader holds it: `await stream.next()` gives the next Delivery."""

    # It shows what its reader may see, and marks each look. What the Wire and the Store know of the
    # watch, such as what is still to come, would tell of commits before they are delivered.
    __slots__ = ("_watch",)

    def __init__(self, watch: OpenWatch) -> None:
        self._watch = watch

    @property
    def error(self) -> ApiError | None:
        """Why it has ended; the next and last thing that its reader is given."""
        return self._watch.error

    def next(self) -> NextDelivery:
        """Wait for the next Delivery; they come in order and without a gap. Raises WatchBroken or
        Expired at the end of the watch."""
        return NextDelivery(self._watch)

    def close(self) -> None:
        """End the watch; to read on then raises WatchBroken."""
        self._watch.close()


class NextDelivery(Waitable):
    """The wait for the next Delivery of one open watch; or, with `apply`, for all of them."""

    is_idle = True

    def __init__(self, watch: OpenWatch, apply: Apply | None = None) -> None:
        """With `apply`, it is as if the task did `apply(await stream.next())` for ever, but only an
        error wakes it. Such a reader, a Cache, does nothing when a bookmark comes."""
        super().__init__(watch._table)
        self._watch = watch
        self._apply = apply
        self.reason = f"watch {watch.plural}"

    def note(self) -> None:
        self._watch.note()

    def arm(self, seat: Seat, wrap: Callable[[Any], Any]) -> None:
        self._watch.read((seat, wrap, self._apply))

    def disarm(self, seat: Seat) -> None:
        self._watch.leave()
