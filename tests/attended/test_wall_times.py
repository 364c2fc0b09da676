"""Wall times: virtual time of an attended Run passes while the World waits, and to the due time."""

from testbed.attended.wall_times import Pacer


def test_what_is_due_happens_at_its_time() -> None:
    """However late the World goes on with it; of what is due later, nothing is taken away."""
    pacer = Pacer(speed=1e9)
    pacer.wait()
    pacer.go_on()
    assert pacer.now_ms > 5
    pacer.settle(3, 5)
    assert pacer.now_ms == 5
    pacer.settle(5, 7)
    assert pacer.now_ms == 5
    pacer.settle(6, None)
    assert pacer.now_ms == 6
