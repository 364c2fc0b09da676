"""How many processes play if nobody says: as many as there may be, and one for short work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from testbed.child import Jobs
from testbed.cli import jobs


@pytest.mark.parametrize(
    ("bound_to", "limit", "found"),
    [
        ({0, 1, 5}, "max 100000", 3),
        ({0, 1, 5}, "200000 100000", 2),
        ({0, 1, 5}, "50000 100000", 1),
        ({0}, "800000 100000", 1),
        ({0, 1}, "nonsense", 2),
        ({0, 1}, None, 2),
        (set(range(1000)), None, 256),
    ],
)
def test_there_are_as_many_as_processors_that_may_be_used(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    bound_to: set[int],
    limit: str | None,
    found: int,
) -> None:
    """Those that the process is bound to; and no more than the time of its container is worth."""
    quota = tmp_path / "cpu.max"
    if limit is not None:
        quota.write_text(f"{limit}\n", encoding="ascii")
    monkeypatch.setattr(jobs, "QUOTA", quota)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: bound_to, raising=False)
    assert jobs.processors() == found


def test_what_is_slow_to_share_out_is_played_alone_for_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Processes that begin from nothing are worth it only for long work."""
    for forks, alone_s in ((True, jobs.ALONE_S), (False, jobs.ALONE_UNFORKED_S)):
        monkeypatch.setattr(jobs, "can_fork", lambda forks=forks: forks)
        assert jobs.jobs_of(None) == Jobs(jobs.processors(), alone_s)
        assert jobs.jobs_of(3) == Jobs(3, 0)
