"""What a program should never send: it gets a Status or is hung up on, and all others go on."""

from __future__ import annotations

import json
import math
import resource
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.limits import HttpLimits
from testbed.attended.http.listener import Listener
from testbed.attended.http.tokens import known
from tests.attended.malice import GOOD, HUNG_UP, LIMITS, ROWS, SERVED, WRITES, Malice, chunked
from tests.attended.programs import (
    TINY_S,
    TOKEN,
    WITHIN_S,
    CountedClock,
    asked,
    descriptors,
    program,
    pump,
    request,
)
from tests.each_row import each_row


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> CountedClock:
    """The clock of a listener, by which a busy machine is no slower than another."""
    made = CountedClock()
    for module in ("listener", "channel"):
        monkeypatch.setattr(f"testbed.attended.http.{module}.monotonic", made)
    return made


@pytest.fixture
def listener(clock: CountedClock) -> Iterator[Listener]:
    """A Listener with the small limits of the table; it leaves no descriptor open."""
    before = descriptors()
    with Listener(limits=LIMITS, knows=known([TOKEN])) as listener:
        yield listener
    assert descriptors() == before


def test_the_table_is_long() -> None:
    """At least 150 rows, no two of them the same."""
    every = [*ROWS, *WRITES]
    assert len({(row.said, row.says_no_more) for row in every}) == len(every)
    assert len({row.claim for row in every}) == len(every)
    assert sum(not row.claim.startswith("served") for row in ROWS) >= 150


@each_row("row", ROWS, ids=lambda row: row.claim)
def test_whatever_is_sent_the_listener_goes_on(listener: Listener, row: Malice) -> None:
    """The same for all rows: each gets its answers, each refusal is a whole Status and the
    last of its connection; then a good request is served, and no connection is left open."""
    with program(listener, row.said) as client:
        if row.says_no_more:
            client.say_no_more()
        for code in row.codes:
            if code != HUNG_UP:
                answer = client.answer()
                assert answer.code == code, answer
                if code >= 400:
                    told = json.loads(answer.body)
                    assert (told["kind"], told["code"]) == ("Status", code)
                    assert told["message"]
                    assert answer.headers["connection"] == "close"
        if row.codes[-1] != SERVED:
            client.hang_on()
            assert client.heard == b""
    with program(listener, GOOD) as client:
        assert client.answer().body == b"/good"
    pump(listener, lambda: not listener.connections)


def test_who_trickles_is_refused_in_time(listener: Listener, clock: CountedClock) -> None:
    """A byte now and then does not put off the end: it counts from the first byte."""
    with program(listener) as client:
        began_s = clock.now_s

        def is_refused() -> bool:
            client.say(b"x")
            return client.has_heard(b"408")

        pump(listener, is_refused)
        assert clock.now_s - began_s >= LIMITS.head_s


def test_a_poll_wakes_for_a_deadline() -> None:
    """However long it may wait; and it says how long another may, who waits in its place."""
    limits = HttpLimits(head_s=0.3)
    with Listener(limits=limits) as listener, program(listener, b"GET") as client:
        assert listener.patience_s == math.inf
        listener.poll(TINY_S)
        assert listener.patience_s <= limits.head_s
        listener.poll(WITHIN_S)
        assert client.answer().code == 408


def test_who_takes_no_byte_of_its_answer_is_hung_up_on(listener: Listener) -> None:
    """An answer does not wait for ever for a program to read it."""
    with program(listener, GOOD):
        (exchange,) = asked(listener)
        exchange.answer(200, {}, b"x" * 20_000_000)
        assert not exchange.is_gone
        pump(listener, lambda: exchange.is_gone)


def test_a_refusal_is_read_by_one_who_was_still_sending() -> None:
    """It sends on for a while, and its answer is not lost to a connection that is reset."""
    head = request(b"PUT / HTTP/1.1", b"Content-Length: 9999999")
    with Listener() as listener, program(listener, head, b"x" * 2_000_000) as client:
        assert client.answer().code == 413


ENDLESS = {
    "body": (request(b"PUT / HTTP/1.1", b"Content-Length: 1073741824"), b"x" * 9999, 413),
    "chunks": (chunked(b""), b"1000\r\n" + b"x" * 4096 + b"\r\n", 413),
    "tiny chunks": (chunked(b""), b"1\r\nx\r\n" * 999, 413),
    "extensions": (chunked(b""), b"1;xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\nx\r\n" * 99, 413),
    "trailers": (chunked(b"0\r\n"), b"X: y\r\n" * 999, 400),
    "headers": (GOOD[:-2], b"X: y\r\n" * 999, 431),
    "line": (b"GET /", b"x" * 9999, 414),
    "folding": (GOOD[:-2] + b"X: y\r\n", b" z\r\n" * 999, 431),
}


@each_row("what", ENDLESS)
def test_what_never_ends_takes_no_memory(what: str) -> None:
    """However much is sent, little of it is kept: and soon it is refused."""
    head, again, code = ENDLESS[what]
    limits = HttpLimits(head_bytes_max=1 << 14, body_bytes_max=1 << 16)
    with Listener(limits=limits) as listener, program(listener, head) as client, measured() as most:
        rounds = 0
        while not client.has_heard(b"\r\n\r\n"):
            client.say(again)
            listener.poll(0)
            rounds += 1
            assert rounds < 1000
        assert client.answer().code == code
        assert most() < 1_000_000


def test_who_asks_ahead_takes_no_memory() -> None:
    """It asks on and on, and reads nothing: its next requests wait in its own kernel buffer."""
    body = b"x" * 100_000
    with Listener() as listener, program(listener, GOOD) as client, measured() as most:
        held, said = asked(listener), GOOD * 500
        for is_answered in (False, True):
            quiet = 0
            while quiet < 20:
                try:
                    sent = client.socket.send(said)
                    said, quiet = said[sent:] + said[:sent], 0
                except BlockingIOError:
                    quiet += 1
                held += listener.poll(0.001)
                while is_answered and held:
                    held.pop().answer(200, {}, body)
            assert len(held) == (0 if is_answered else 1)
        assert most() < 2_000_000


@contextmanager
def measured() -> Iterator[Callable[[], int]]:
    """How many bytes were taken at most since then, and while this is open."""
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_one_too_many_takes_the_place_of_an_idle_one() -> None:
    """The one that was idle longest is closed; one that is asking or answered is not."""
    with Listener(limits=HttpLimits(connections_max=3)) as listener, ExitStack() as stack:
        busy, idle, later = (stack.enter_context(program(listener)) for _ in range(3))
        busy.say(GOOD)
        (exchange,) = asked(listener)
        for client in (later, idle, later):
            client.say(GOOD)
            assert client.answer().code == SERVED
        last = stack.enter_context(program(listener, GOOD))
        assert last.answer().code == SERVED
        idle.hang_on()
        later.say(GOOD)
        assert later.answer().code == SERVED
        exchange.answer(200, {}, b"")
        assert busy.answer().code == 200
        assert listener.connections == 3


def test_one_too_many_is_refused_if_all_are_busy() -> None:
    """It may come again; the count of open connections stays bounded, however often it does."""
    told: list[tuple[int, str]] = []
    limits = HttpLimits(connections_max=2)
    with (
        Listener(limits=limits, on_refused=lambda *what: told.append(what)) as listener,
        program(listener, GOOD),
        program(listener, GOOD),
    ):
        held = asked(listener, 2)
        for _ in range(5):
            with program(listener, GOOD) as client:
                answer = client.answer()
                assert (answer.code, answer.headers["retry-after"]) == (429, "1")
                assert listener.connections <= 3
        held[0].answer(200, {}, b"")
        with program(listener, GOOD) as client:
            assert client.answer().code == SERVED
        assert [code for code, _ in told] == [429] * 5


def test_without_descriptors_programs_wait_at_the_door() -> None:
    """When the process may open no more, nobody is lost: each is let in when another has left."""
    with Listener(limits=LIMITS) as listener, ExitStack() as stack:
        last = request(b"GET / HTTP/1.1", b"Connection: close")
        clients = [stack.enter_context(program(listener, last)) for _ in range(6)]
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        top = max(client.socket.fileno() for client in clients)
        resource.setrlimit(resource.RLIMIT_NOFILE, (top + 3, hard))
        try:
            held = asked(listener, 2)
            assert listener.poll(TINY_S) == []
            for exchange in held:
                exchange.cut()
            assert [client.answer().code for client in clients[2:]] == [SERVED] * 4
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_requests_come_in_the_order_in_which_they_were_sent(listener: Listener) -> None:
    """Not in that of their connections; one poll takes all that is there."""
    with ExitStack() as stack:
        clients = [stack.enter_context(program(listener)) for _ in range(20)]
        listener.poll(0)
        for number in reversed(range(20)):
            clients[number].say(request(b"GET /%d HTTP/1.1" % number))
        found = [exchange.asked.path for exchange in listener.poll(1.0)]
    assert found == [f"/{number}" for number in reversed(range(20))]


def test_a_listener_that_is_closed_leaves_nobody_waiting(listener: Listener) -> None:
    """Whatever was open is closed, an answer that comes later is lost; it may be closed twice."""
    with program(listener, GOOD) as asking, program(listener) as idle:
        (exchange,) = asked(listener)
        listener.close()
        for client in (asking, idle):
            client.read_to_the_end()
        assert exchange.is_gone
        exchange.answer(200, {}, b"")


def test_who_shows_no_token_keeps_nobody_out() -> None:
    """However many half-open connections there are: the oldest gives way, first one that has said
    nothing; one that has shown a token keeps its place, though it is idle longer."""
    limits = HttpLimits(connections_max=8, strangers_max=4)
    with Listener(limits=limits, knows=known([TOKEN])) as listener, ExitStack() as stack:
        friend = stack.enter_context(program(listener, GOOD))
        assert friend.answer().code == SERVED
        half = [stack.enter_context(program(listener, GOOD[:9])) for _ in range(3)]
        mute = stack.enter_context(program(listener))
        pump(listener, lambda: listener.connections == 5)
        for stranger in (mute, *half):
            late = stack.enter_context(program(listener, GOOD))
            assert late.answer().code == SERVED
            assert not late.is_hung_up
            stack.enter_context(program(listener, GOOD[:9]))
            stranger.hang_on()
        friend.say(GOOD)
        assert friend.answer().code == SERVED


def test_what_nobody_reads_is_bounded_in_all() -> None:
    """The slowest is cut, which is told, and the others go on: a watch before an answer, and one
    answer may be as large as it is, until a second one is not read either."""
    told: list[str] = []

    def drop(request: HttpRequest, unread: int) -> None:
        assert unread > 1_000_000
        told.append(request.path)

    limits = HttpLimits(unsent_total_max=3_000_000)
    with Listener(limits=limits, on_dropped=drop) as listener, ExitStack() as stack:
        clients = [stack.enter_context(program(listener)) for _ in range(5)]
        held = []
        for number, client in enumerate(clients):
            client.say(request(b"GET /%d HTTP/1.1" % number))
            held += asked(listener)
        first, large, second, brisk, last = held
        for watch in (first, second):
            watch.begin(200, {})
        for _ in range(90):
            first.send(b"x" * 100_000)
        assert told == ["/0"]
        large.answer(200, {}, b"x" * 20_000_000)
        assert told == ["/0"]
        for _ in range(90):
            second.send(b"x" * 100_000)
        assert told == ["/0", "/2"]
        brisk.answer(200, {}, b"x" * 100)
        last.answer(200, {}, b"x" * 9_000_000)
        assert told == ["/0", "/2", "/1"]
        assert [exchange.is_gone for exchange in held] == [True, True, True, False, False]
        assert clients[3].answer().code == 200
        assert len(clients[4].answer().body) == 9_000_000
