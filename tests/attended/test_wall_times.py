"""Wall times: virtual time of an attended Run passes while the World waits, and to the due time."""

import pytest

from testbed.attended.wall_times import Pacer


class Wall:
    """A clock that goes on when it is told to."""

    now_s = 100.0

    def __call__(self) -> float:
        """What it shows."""
        return self.now_s


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Wall:
    """The wall's clock, as a Pacer sees it."""
    made = Wall()
    monkeypatch.setattr("testbed.attended.wall_times.monotonic", made)
    return made


def test_time_passes_while_the_world_waits_and_never_else(wall: Wall) -> None:
    """Ten times as fast as on the wall, since that is its speed."""
    pacer = Pacer(speed=10)
    wall.now_s += 5
    pacer.wait()
    wall.now_s += 0.5
    pacer.wait()
    wall.now_s += 0.5
    pacer.go_on()
    wall.now_s += 5
    assert pacer.now_ms == 10_000
    assert pacer.until_s(12_000) == pytest.approx(0.2)


def test_what_is_due_happens_at_its_time(wall: Wall) -> None:
    """However late the World goes on with it; of what is due later, nothing is taken away."""
    pacer = Pacer(speed=1)
    pacer.wait()
    wall.now_s += 3600
    pacer.go_on()
    pacer.settle(3, 5)
    assert pacer.now_ms == 5
    pacer.settle(5, 7)
    assert pacer.now_ms == 5
    pacer.settle(6, None)
    assert pacer.now_ms == 6
