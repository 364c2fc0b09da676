"""The calendar: virtual milliseconds as timestamps, and back; no clock is read."""

from __future__ import annotations

import pytest

from testbed.objects import calendar
from tests.each_row import each_row


@each_row(
    ("ms", "text", "fine"),
    [
        (0, "2025-01-01T00:00:00Z", "2025-01-01T00:00:00.000000Z"),
        (30_250, "2025-01-01T00:00:30Z", "2025-01-01T00:00:30.250000Z"),
        (30_999, "2025-01-01T00:00:30Z", "2025-01-01T00:00:30.999000Z"),
        (-1, "2024-12-31T23:59:59Z", "2024-12-31T23:59:59.999000Z"),
        (-63_000_000_000_000, "0028-08-11T08:00:00Z", "0028-08-11T08:00:00.000000Z"),
    ],
)
@pytest.mark.spec("GEN-4")
def test_a_time_is_written_in_whole_seconds_or_finely(ms: int, text: str, fine: str) -> None:
    """Most fields drop the fraction, downward; a year has four digits, however early."""
    assert calendar.written(ms) == text
    assert calendar.written_fine(ms) == fine


@each_row(
    ("text", "ms"),
    [
        ("2025-01-01T02:00:00+02:00", 0),
        ("2024-12-31T19:00:01-05:00", 1000),
        ("2025-01-01T00:00:00.5Z", 500),
        ("2025-01-01T00:00:00.000999Z", 0),
        ("2025-01-01T00:00:00.123456789Z", 123),
    ],
)
def test_any_zone_and_any_fraction_is_read(text: str, ms: int) -> None:
    """What is finer than a millisecond is dropped."""
    assert calendar.read(text) == ms


@each_row(
    "text",
    [
        *("", "now", "2025-01-01", "2025-01-01T00:00:00", "2025-01-01 00:00:00Z", "1735689600"),
        *("2025-13-01T00:00:00Z", "2025-02-29T00:00:00Z", "2025-01-01T24:00:00Z"),
        *("2025-01-01T00:00:60Z", "2025-01-01T00:00:00+99:00", "2025-01-01T00:00:00.Z"),
        *("0000-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:00:00-05:00"),
        "٢٠٢٥-01-01T00:00:00Z",
    ],
)
def test_what_is_no_time_is_refused(text: str) -> None:
    """A date that there is not, and one that cannot be written again, among them."""
    with pytest.raises(ValueError, match=r"."):
        calendar.read(text)


def test_virtual_time_may_begin_at_another_date() -> None:
    """All that is written and read within is of that date; after it, all is as before."""
    with calendar.beginning_at("2026-11-24T15:00:00Z"):
        assert calendar.written(1000) == "2026-11-24T15:00:01Z"
        assert calendar.read("2026-11-24T15:00:01.250Z") == 1250
        assert calendar.epoch_named() == "2026-11-24T15:00:00Z"
        with calendar.beginning_at(""):
            assert calendar.written(0) == "2025-01-01T00:00:00Z"
    assert calendar.epoch_named() == ""
    assert calendar.written(1000) == "2025-01-01T00:00:01Z"
