"""The Ledger: what is in it stays, and it is of one search only."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from testbed.errors import LedgerRefused
from testbed.search.ledger import Ledger
from testbed.search.planned_run import Breach
from tests.shared.findings import finding, violated

IDENTITY = {"version": "1", "scenario": "double_bind", "switches": {"guard": "on"}, "faults": ()}


def opened(folder: Path, *, resumes: bool = True, **other: object) -> Ledger:
    """The ledger of a search in that folder."""
    return Ledger(str(folder / "new" / "a.ledger"), {**IDENTITY, **other}, resumes=resumes)


def test_what_is_kept_is_there_again(tmp_path: Path) -> None:
    """Outcomes and Findings, in a folder that was not there."""
    outcome = violated(3, "x")
    told = finding(outcome, Breach("claim", "x"), "claim")
    ledger = opened(tmp_path, resumes=False)
    ledger.keep_outcome(outcome)
    ledger.keep_finding(3, "claim", told)
    ledger.close()
    again = opened(tmp_path)
    assert again.outcome(3) == outcome
    assert again.outcome(4) is None
    assert again.finding(3, "claim") == told
    assert again.finding(3, "other") is None
    again.close()


@pytest.mark.parametrize(
    ("name", "value"),
    [("scenario", "lost_update"), ("switches", {"guard": "off"}), ("version", "2"), ("seed", 1)],
)
def test_another_search_is_refused(tmp_path: Path, name: str, value: object) -> None:
    """Its Runs are not the Runs of this one; it says in what they differ, and what to do."""
    opened(tmp_path, seed=0).close()
    with pytest.raises(
        LedgerRefused, match=rf"of another search: {name} was .*\nNext: search as it"
    ):
        Ledger(str(tmp_path / "new/a.ledger"), {**IDENTITY, "seed": 0, name: value}, resumes=True)


def test_what_is_gone_makes_another_search(tmp_path: Path) -> None:
    """A module that was a part of it, and is none now."""
    opened(tmp_path, source="x").close()
    with pytest.raises(LedgerRefused, match='source was "x", and is nothing now'):
        opened(tmp_path)


def test_a_ledger_that_is_there_is_not_gone_on_with_unasked(tmp_path: Path) -> None:
    """Nor written over."""
    opened(tmp_path).close()
    with pytest.raises(LedgerRefused, match=r"there already\.\nNext: say --resume"):
        opened(tmp_path, resumes=False)


def test_two_searches_cannot_write_one_ledger(tmp_path: Path) -> None:
    """The second is told so; the first goes on."""
    first = opened(tmp_path)
    with pytest.raises(LedgerRefused, match="another search writes it"):
        opened(tmp_path)
    first.keep_outcome(violated(1, "x"))
    first.close()


def test_what_is_no_ledger_is_refused(tmp_path: Path) -> None:
    """And left as it is."""
    path = tmp_path / "notes.txt"
    path.write_text("mine " * 300, encoding="utf-8")
    with pytest.raises(
        LedgerRefused,
        match=r"it is no ledger: .*; expected a file that a search has begun\.\nNext: name another",
    ):
        Ledger(str(path), IDENTITY, resumes=True)
    assert path.read_text(encoding="utf-8") == "mine " * 300
    with pytest.raises(LedgerRefused, match="cannot be opened"):
        Ledger(str(tmp_path), IDENTITY, resumes=True)


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("outcome", b'{"run":3'),
        ("outcome", b'{"run":3}'),
        ("outcome", "text"),
        ("finding", b"[]"),
        ("finding", b"{}"),
    ],
)
def test_a_line_that_no_search_has_written_is_refused(
    tmp_path: Path, table: str, line: object
) -> None:
    """It says where, what was expected, and what to do."""
    outcome = violated(3, "x")
    ledger = opened(tmp_path)
    ledger.keep_outcome(outcome)
    ledger.keep_finding(3, "claim", finding(outcome, Breach("claim", "x"), "claim"))
    ledger.close()
    file = sqlite3.connect(tmp_path / "new/a.ledger", isolation_level=None)
    file.execute(f"UPDATE {table} SET line = ?", (line,))
    file.close()
    again = opened(tmp_path)
    with pytest.raises(
        LedgerRefused, match=r"run 3 cannot be read: .*; expected the line .*\nNext: begin again"
    ):
        again.outcome(3) if table == "outcome" else again.finding(3, "claim")
    again.close()


def test_a_ledger_that_is_damaged_is_refused(tmp_path: Path) -> None:
    """Its head is whole, so it opens; its pages are not."""
    ledger = opened(tmp_path)
    for run in range(200):
        ledger.keep_outcome(violated(run, "x" * 200))
    ledger.close()
    path = tmp_path / "new/a.ledger"
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + b"A" * (len(whole) - 8192))
    again = opened(tmp_path)
    with pytest.raises(LedgerRefused, match=r"cannot be read or written: .*\nNext: begin again"):
        [again.outcome(run) for run in range(200)]
    again.close()


def test_a_round_that_goes_another_way_is_refused(tmp_path: Path) -> None:
    """Then the code has changed since, and what is kept is of Runs that are no more."""
    ledger = opened(tmp_path)
    ledger.agree_on_round(32, [["pct", 5]])
    ledger.agree_on_round(32, [["pct", 5]])
    with pytest.raises(LedgerRefused, match="from run 32 on this search goes another way"):
        ledger.agree_on_round(32, [["pct", 6]])
    ledger.close()


def test_it_outlives_its_process(tmp_path: Path) -> None:
    """Each Outcome is on its way to the disk when the next Run begins: a reader sees it at once
    after whoever wrote it is gone without a word."""
    ledger = opened(tmp_path)
    ledger.keep_outcome(violated(1, "x"))
    path = tmp_path / "new" / "a.ledger"
    kept = [Path(f"{path}{end}").read_bytes() for end in ("", "-wal")]
    ledger.close()
    for end, data in zip(("", "-wal"), kept, strict=True):
        Path(f"{tmp_path}/copy{end}").write_bytes(data)
    with closing(sqlite3.connect(tmp_path / "copy")) as there:
        assert there.execute("SELECT count(*) FROM outcome").fetchall() == [(1,)]
