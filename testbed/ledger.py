"""Ledger: what a search has found out, on disk as soon as it knows, so that `kill -9` loses only
what was in flight.

It keeps no position. A search is a function of its Task and of the Outcomes, so it goes on by
beginning anew, and takes from the Ledger each Outcome and each Finding that is there instead of
playing it: what it ends with is the same by construction. The shares of each round stand there
too, as a witness: if they are not the same again, the code has changed since, and it says so.

One file of SQLite, one writer: another search of the same file is refused.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from testbed.errors import LedgerRefused
from testbed.finding import Finding
from testbed.job import Data, Outcome
from testbed.objects.codec import decode, encode

FORMAT = "testbed-ledger/1"
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
            self._file = sqlite3.connect(path, timeout=0, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise self._refused(f"cannot be opened: {error}", "name a file you may write") from None
        try:
            self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._file.executescript(TABLES)
            self._agree(resumes=resumes)
        except sqlite3.Error as error:
            self._file.close()
            is_held = "locked" in str(error)
            what = "another search writes it" if is_held else f"it is no ledger: {error}"
            after = "wait for that one to end, or name another file"
            raise self._refused(what, after) from None
        except BaseException:
            self._file.close()
            raise

    def _refused(self, what: str, after: str) -> LedgerRefused:
        return LedgerRefused(f"{self.path}: {what}.\nNext: {after}.")

    def _agree(self, *, resumes: bool) -> None:
        """What the file is of must be what is searched now."""
        rows = self._file.execute("SELECT name, value FROM search").fetchall()
        if not rows:
            names = [(name, encode(value)) for name, value in self._identity.items()]
            self._file.execute("BEGIN")
            self._file.executemany("INSERT INTO search VALUES (?, ?)", names)
            self._file.execute("COMMIT")
            return
        there = {name: bytes(value) for name, value in rows}
        for name, value in self._identity.items():
            now = encode(value)
            if there.get(name) != now:
                was = _shown(there.get(name, b"nothing"))
                raise self._refused(
                    f"it is of another search: {name} was {was}, and is {_shown(now)} now",
                    "search as it was, or name another file with --ledger",
                )
        if not resumes:
            raise self._refused(
                "it is there already", "say --resume to go on with it, or name another file"
            )

    # -- what was found out ---------------------------------------------------------------------

    def outcome(self, run: int) -> Outcome | None:
        """What that Run has shown, if it was played."""
        line = self._one("SELECT line FROM outcome WHERE run = ?", run)
        return None if line is None else Outcome.parse(line)

    def keep_outcome(self, outcome: Outcome) -> None:
        """One Run more."""
        self._file.execute("INSERT INTO outcome VALUES (?, ?)", (outcome.run, outcome.line()))

    def finding(self, run: int, reason: str) -> Finding | None:
        """What that Run was shrunk to, if it was."""
        line = self._one("SELECT line FROM finding WHERE run = ? AND reason = ?", run, reason)
        return None if line is None else Finding.of(decode(line))

    def keep_finding(self, run: int, reason: str, finding: Finding) -> None:
        """One Run was shrunk."""
        row = (run, reason, encode(finding.as_dict()))
        self._file.execute("INSERT INTO finding VALUES (?, ?, ?)", row)

    def agree_on_round(self, first_run: int, shares: Any) -> None:
        """The round that begins with this Run has these shares; it must have had them before."""
        line = encode(shares)
        before = self._one("SELECT shares FROM round WHERE first_run = ?", first_run)
        if before is None:
            self._file.execute("INSERT INTO round VALUES (?, ?)", (first_run, line))
        elif before != line:
            raise self._refused(
                f"from run {first_run} on this search goes another way than it did, so the code "
                "has changed since",
                "begin again with another --ledger",
            )

    def _one(self, query: str, *values: Any) -> bytes | None:
        row = self._file.execute(query, values).fetchone()
        return None if row is None else bytes(row[0])

    def close(self) -> None:
        """All of it is on disk."""
        self._file.close()


def _shown(value: bytes) -> str:
    text = value.decode(errors="replace")
    return text if len(text) <= 60 else text[:57] + "…"
