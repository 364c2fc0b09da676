"""Ledger: the file in which a search keeps each Outcome and each Finding as soon as it has them.

It keeps no position. A search is a function of its SearchTask and of the Outcomes, so a resumed
search starts from the first round again, and takes what the Ledger has instead of playing it. So it
finds the same as one that was never killed, by construction. The shares of each round are kept,
too, as a check: if they differ, the code has changed since, and the search is refused.

`kill -9` of the search loses only the Runs and the shrink in progress: each row is a transaction of
its own, and what was committed is in the files. If the machine itself loses power, the last
rows may be missing, but the file stays whole; a resumed search plays those Runs again.

One SQLite file has one writer: a second search of the same file is refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from testbed.code.files import check_regular
from testbed.errors import LedgerRefused
from testbed.objects.codec import decode, encode
from testbed.search.finding import Finding
from testbed.search.planned_run import Data, Outcome

FORMAT = "testbed-ledger/1"
OTHER_FILE = "begin again with another --ledger, on a disk with room"
Read = TypeVar("Read")
# In WAL mode at synchronous=NORMAL a commit does not wait for the disk, which would cost more than
# a Run; what a crash of the machine could lose by that is only played again.
TABLES = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS search (name TEXT PRIMARY KEY, value BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS round (first_run INTEGER PRIMARY KEY, shares BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS outcome (run INTEGER PRIMARY KEY, line BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS finding (
        run INTEGER, reason TEXT, line BLOB NOT NULL, PRIMARY KEY (run, reason)
    );
"""


class Ledger:
    """The file of one search."""

    def __init__(self, path: str, identity: Data, *, resumes: bool) -> None:
        self.path = path
        self._identity = {"format": FORMAT, **identity}
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            if Path(path).exists():
                check_regular(path)
            self._file = sqlite3.connect(path, timeout=0, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            after = "name a file with --ledger, in a folder where you may write"
            raise self._refused(f"cannot be opened: {error}", after) from None
        try:
            self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._file.executescript(TABLES)
            self._agree(resumes=resumes)
        except sqlite3.Error as error:
            self._file.close()
            if "locked" in str(error):
                after = "wait for that one to end, or name another file"
                raise self._refused("another search writes it", after) from None
            what = f"it is no ledger: {error}; expected a file that a search has begun"
            raise self._refused(what, "name another file, and it will be made") from None
        except BaseException:
            self._file.close()
            raise

    def _refused(self, what: str, after: str) -> LedgerRefused:
        return LedgerRefused(f"{self.path}: {what}.\nNext: {after}.")

    def _agree(self, *, resumes: bool) -> None:
        """Refuse a file that belongs to another search, or that is not to be resumed."""
        rows = self._file.execute("SELECT name, value FROM search").fetchall()
        if not rows:
            identity = [(name, encode(value)) for name, value in self._identity.items()]
            # In one transaction: half an identity would match no search, and the file be lost.
            self._file.execute("BEGIN")
            self._file.executemany("INSERT INTO search VALUES (?, ?)", identity)
            self._file.execute("COMMIT")
            return
        there = {name: value for name, value in rows if isinstance(value, bytes)}
        here = {name: encode(value) for name, value in self._identity.items()}
        for name in {**here, **there}:
            was, now = (_shown(names.get(name, b"nothing")) for names in (there, here))
            if there.get(name) != here.get(name):
                raise self._refused(
                    f"it is of another search: {name} was {was}, and is {now} now",
                    "search as it was, or name another file with --ledger",
                )
        if not resumes:
            raise self._refused(
                "it is there already", "say --resume to go on with it, or name another file"
            )

    # -- what was found out ---------------------------------------------------------------------

    def outcome(self, run: int) -> Outcome | None:
        """Return what that Run has shown; None if it was not played."""
        line = self._one("SELECT line FROM outcome WHERE run = ?", run)
        return None if line is None else self._read(Outcome.parse, line, f"run {run}")

    def keep_outcome(self, outcome: Outcome) -> None:
        """Keep what one more Run has shown."""
        self._do("INSERT INTO outcome VALUES (?, ?)", outcome.run, outcome.line())

    def finding(self, run: int, reason: str) -> Finding | None:
        """Return what that Run was shrunk to for that reason; None if it was not shrunk."""
        line = self._one("SELECT line FROM finding WHERE run = ? AND reason = ?", run, reason)
        if line is None:
            return None
        return self._read(lambda text: Finding.of(decode(text)), line, f"the finding of run {run}")

    def keep_finding(self, run: int, reason: str, finding: Finding) -> None:
        """Keep what a Run was shrunk to."""
        line = encode(finding.as_dict())
        self._do("INSERT INTO finding VALUES (?, ?, ?)", run, reason, line)

    def agree_on_round(self, first_run: int, shares: Any) -> None:
        """Keep the shares of the round that begins with this Run; refuse others than were kept."""
        line = encode(shares)
        before = self._one("SELECT shares FROM round WHERE first_run = ?", first_run)
        if before is None:
            self._do("INSERT INTO round VALUES (?, ?)", first_run, line)
        elif before != line:
            raise self._refused(
                f"from run {first_run} on this search goes another way than it did, so the code "
                "has changed since",
                "begin again with another --ledger",
            )

    def _one(self, query: str, *values: Any) -> bytes | None:
        rows = self._do(query, *values)
        return rows[0][0] if rows else None

    def _do(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self._file.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._refused(f"cannot be read or written: {error}", OTHER_FILE) from None

    def _read(self, parse: Callable[[bytes], Read], line: bytes, what: str) -> Read:
        try:
            return parse(line)
        except Exception as error:  # noqa: BLE001 - whatever it is, no search has written that
            raise self._refused(
                f"{what} cannot be read: {type(error).__name__}: {error}; expected the line of "
                "JSON that a search has written",
                OTHER_FILE,
            ) from None

    def close(self) -> None:
        """Close the file, so that another search may write it."""
        self._file.close()


def _shown(value: bytes) -> str:
    text = value.decode(errors="replace")
    return text if len(text) <= 60 else text[:57] + "…"
