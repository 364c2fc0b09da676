"""Wrong answers to level 1: each looks as if it counted every delivery."""

from __future__ import annotations

from contextlib import suppress

from scenarios.levels.lost_count import Clerk
from testbed import ApiError, Client, Conflict, Unavailable
from testbed.objects import Map, Note


def _one_more(note: Note, by: str, units: int = 1) -> Note:
    """The note with so many units more."""
    return note.saying(count=str(int(note.data["count"]) + units), last=by)


class BlindWriter(Clerk):
    """Writes whatever was there before."""

    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            note = await client.get(Note, self.stock)
            await client.update(_one_more(note, self.name), whatever_it_was=True)


class DiesOfConflict(Clerk):
    """Is refused, and does not expect it."""

    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            note = await client.get(Note, self.stock)
            await client.update(_one_more(note, self.name))


class GivesUpAtConflict(Clerk):
    """Takes a refusal as done, and goes on with the next delivery."""

    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            note = await client.get(Note, self.stock)
            with suppress(Conflict):
                await client.update(_one_more(note, self.name))


class ForcesAfterConflict(Clerk):
    """Writes blindly once it was refused."""

    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            note = await client.get(Note, self.stock)
            try:
                await client.update(_one_more(note, self.name))
            except Conflict:
                await client.update(_one_more(note, self.name), whatever_it_was=True)


class TriesTheSameAgain(Clerk):
    """Sends what was refused again and again."""

    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            note = await client.get(Note, self.stock)
            while True:
                try:
                    await client.update(_one_more(note, self.name))
                    break
                except Conflict:
                    continue


class TriesTwice(Clerk):
    """Reads again after a refusal, but only once."""

    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            for _ in range(2):
                note = await client.get(Note, self.stock)
                try:
                    await client.update(_one_more(note, self.name))
                    break
                except Conflict:
                    continue


class LooksOnceMore(Clerk):
    """Reads a second time to be sure, then writes blindly: the gap is only smaller."""

    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            while True:
                note = await client.get(Note, self.stock)
                again = await client.get(Note, self.stock)
                if again.data["count"] == note.data["count"]:
                    await client.update(_one_more(again, self.name), whatever_it_was=True)
                    break


class WaitsItsTurn(Clerk):
    """Sleeps for a time of its own before each write, as if that kept others away."""

    async def run(self, client: Client) -> None:
        wait_ms = 100 * sum(map(ord, self.name))
        for _ in range(self.deliveries):
            await client.sleep(wait_ms)
            while True:
                try:
                    note = await client.get(Note, self.stock)
                    await client.update(_one_more(note, self.name), whatever_it_was=True)
                    break
                except Unavailable:
                    await client.sleep(1)


class CountsAtOnce(Clerk):
    """Adds all its deliveries in one blind write: fewer writes, the same gap."""

    async def run(self, client: Client) -> None:
        note = await client.get(Note, self.stock)
        counted = _one_more(note, self.name, self.deliveries)
        await client.update(counted, whatever_it_was=True)


class RemembersTheCount(Clerk):
    """Reads once and goes on from its own count, blindly."""

    async def run(self, client: Client) -> None:
        note = await client.get(Note, self.stock)
        for _ in range(self.deliveries):
            note = await client.update(_one_more(note, self.name), whatever_it_was=True)


class ChecksAfterwards(Clerk):
    """Writes blindly, and writes again if it does not find its own write."""

    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            while True:
                note = await client.get(Note, self.stock)
                wanted = _one_more(note, self.name)
                await client.update(wanted, whatever_it_was=True)
                found = await client.get(Note, self.stock)
                if found.data["count"] == wanted.data["count"]:
                    break


class DropsWhatIsLost(Clerk):
    """Reads again after a Conflict, but takes a lost request as done."""

    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            while True:
                try:
                    note = await client.get(Note, self.stock)
                    await client.update(_one_more(note, self.name))
                    break
                except Conflict:
                    continue
                except Unavailable:
                    break


class DiesOfLoss(Clerk):
    """Does not expect that a request may be lost."""

    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            while True:
                try:
                    note = await client.get(Note, self.stock)
                    await client.update(_one_more(note, self.name))
                    break
                except Conflict:
                    continue


class ForcesAfterLoss(Clerk):
    """Sends a lost write again, blindly, with the old count."""

    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            while True:
                try:
                    note = await client.get(Note, self.stock)
                except Unavailable:
                    continue
                try:
                    await client.update(_one_more(note, self.name))
                    break
                except Conflict:
                    continue
                except Unavailable:
                    await client.update(_one_more(note, self.name), whatever_it_was=True)
                    break


class KnowsTheNames(Clerk):
    """Knows the World by heart: the second clerk waits until the first has counted two."""

    async def run(self, client: Client) -> None:
        done = 0
        while done < self.deliveries:
            try:
                note = await client.get(Note, "stock")
                if self.name != "alpha" and int(note.data["count"]) < 9:
                    await client.sleep(100)
                    continue
                await client.update(_one_more(note, self.name))
                done += 1
            except (Conflict, Unavailable):
                continue


class KeepsItsOwnCount(Clerk):
    """Counts on a Note of its own: no other clerk disturbs it, and the stock is not counted."""

    async def run(self, client: Client) -> None:
        while True:
            try:
                own = Note(f"{self.stock}-{self.name}", data=Map(count=str(self.deliveries)))
                await client.create(own)
                break
            except ApiError:
                await client.sleep(100)


class KnowsTheStock(Clerk):
    """Counts with care, on the one Note that it has always seen."""

    async def run(self, client: Client) -> None:
        for _ in range(self.deliveries):
            while True:
                try:
                    note = await client.get(Note, "stock")
                    await client.update(_one_more(note, self.name))
                    break
                except (Conflict, Unavailable):
                    continue
