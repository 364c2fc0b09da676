"""One program and one connection: what it asks, when it is answered, and how its bytes are laid."""

from __future__ import annotations

import http.client
import json
import selectors
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import httpx
import pytest

from testbed.attended.http.exchange import Exchange
from testbed.attended.http.limits import HttpLimits
from testbed.attended.http.listener import Listener
from testbed.attended.http.tokens import known
from testbed.errors import HarnessBug
from tests.attended.programs import TINY_S, TOKEN, WITHIN_S, asked, program, pump, request, tries

Found = TypeVar("Found")

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def listener() -> Iterator[Listener]:
    """A Listener that knows two tokens."""
    with Listener(knows=known([TOKEN, "another"])) as listener:
        yield listener


def settle(listener: Listener) -> None:
    """Let the listener take whatever has been sent; nobody has asked anything."""
    for _ in range(3):
        assert listener.poll(TINY_S) == []


def test_a_request_is_handed_out_whole(listener: Listener) -> None:
    """Its path and query are decoded, its headers joined by name, its body complete."""
    line = b"POST /api/v1/a%20b?watch=true&labelSelector=app%3Dx+y&empty HTTP/1.1"
    with program(listener, request(line, b"Accept: a", b"ACCEPT: b", body=b"{}")):
        (exchange,) = asked(listener)
    it = exchange.asked
    assert (it.method, it.path, it.body) == ("POST", "/api/v1/a b", b"{}")
    assert it.query == (("watch", "true"), ("labelSelector", "app=x y"), ("empty", ""))
    assert it.headers["accept"] == "a, b"
    assert it.token == TOKEN


def test_a_request_comes_byte_by_byte(listener: Listener) -> None:
    """However the network cuts it, it is handed out once, with its last byte."""
    whole = request(b"PUT /p HTTP/1.1", body=b"body")
    with program(listener) as client:
        for at in range(len(whole) - 1):
            client.say(whole[at : at + 1])
            assert listener.poll(0) == []
        client.say(whole[-1:])
        (exchange,) = asked(listener)
    assert exchange.asked.body == b"body"


def test_an_answer_leaves_in_one_write(listener: Listener) -> None:
    """Head and body are there together, at once, without a poll."""
    with program(listener, request()) as client:
        (exchange,) = asked(listener)
        exchange.answer(200, JSON, b"{}")
        raw = client.socket.recv(1 << 16)
    assert raw == (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    )


def test_each_line_of_a_watch_is_a_chunk_of_its_own(listener: Listener) -> None:
    """Head, line, line and end leave each when they are said, and none before."""
    with program(listener, request(b"GET /watch HTTP/1.1")) as client:
        (exchange,) = asked(listener)
        exchange.begin(200, JSON)
        head = client.socket.recv(1 << 16)
        assert b"Transfer-Encoding: chunked\r\n" in head
        assert head.endswith(b"\r\n\r\n")
        for line, raw in ((b"{}\n", b"3\r\n{}\n\r\n"), (b"", b""), (b"[1]\n", b"4\r\n[1]\n\r\n")):
            exchange.send(line)
            assert (client.socket.recv(1 << 16) if raw else b"") == raw
        settle(listener)
        exchange.end()
        assert client.socket.recv(1 << 16) == b"0\r\n\r\n"
        client.say(request(b"GET /again HTTP/1.1"))
        assert client.answer().body == b"/again"


def test_requests_that_come_together_are_answered_in_order(listener: Listener) -> None:
    """The next of a connection is not handed out before the one before is answered."""
    said = b"".join(request(b"GET /%d HTTP/1.1" % number) for number in range(3))
    with program(listener, said) as client:
        for number in range(3):
            (exchange,) = asked(listener)
            assert exchange.asked.path == f"/{number}"
            settle(listener)
            exchange.answer(200, {}, b"%d" % number)
        assert [client.answer().body for _ in range(3)] == [b"0", b"1", b"2"]


def test_a_request_that_waits_shows_in_the_descriptor(listener: Listener) -> None:
    """A request that was read along with the one before makes the selector's descriptor readable,
    so that one who waits for that alone misses nothing."""
    with program(listener, request() + request()), selectors.DefaultSelector() as other:
        other.register(listener.fileno(), selectors.EVENT_READ)
        assert other.select(1.0)
        (first,) = asked(listener)
        assert not other.select(0)
        first.answer(200, {}, b"")
        assert other.select(0)
        asked(listener)
        assert not other.select(0)


def test_a_program_that_has_said_all_is_still_answered(listener: Listener) -> None:
    """It shuts down its side after two requests; both are answered, and then it is hung up on."""
    with program(listener, request(), request(b"GET /b HTTP/1.1")) as client:
        client.say_no_more()
        (first,) = asked(listener)
        settle(listener)
        assert not first.is_gone
        first.answer(200, {}, b"a")
        client.hang_on()
        assert [client.answer().body for _ in range(2)] == [b"a", b"/b"]


@pytest.mark.parametrize("how", ["close", "reset", "half"])
def test_a_watcher_that_has_left_is_noticed(listener: Listener, how: str) -> None:
    """Nothing needs to be sent to it; and what is sent all the same is lost without a word."""
    with program(listener, request()) as client:
        (watch,) = asked(listener)
        watch.begin(200, JSON)
        settle(listener)
        assert not watch.is_gone
        if how == "reset":
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.say_no_more() if how == "half" else client.close()
        pump(listener, lambda: watch.is_gone)
        watch.send(b"{}\n")
        watch.end()
        watch.cut()


def test_an_answer_to_nobody_is_lost_without_a_word(listener: Listener) -> None:
    """The program is gone before it is answered; the next one is served."""
    with program(listener, request()) as client:
        (exchange,) = asked(listener)
        client.close()
        settle(listener)
        exchange.answer(200, {}, b"x" * 100_000)
        pump(listener, lambda: exchange.is_gone)
    with program(listener, request(b"GET /on HTTP/1.1")) as client:
        assert client.answer().body == b"/on"


@pytest.mark.parametrize("after", [b"", b"HTTP/1.1 200 OK"])
def test_a_cut_leaves_the_program_without_an_answer(listener: Listener, after: bytes) -> None:
    """Before the answer or in the middle of one, the connection is closed at once."""
    with program(listener, request()) as client:
        (exchange,) = asked(listener)
        if after:
            exchange.begin(200, {})
        exchange.cut()
        assert exchange.is_gone
        client.hang_on()
        assert client.heard.startswith(after)
        assert not client.heard.endswith(b"0\r\n\r\n")


def test_an_answer_is_given_once(listener: Listener) -> None:
    """Whoever answers twice has a bug, and hears of it."""
    with program(listener, request()):
        (exchange,) = asked(listener)
        with pytest.raises(HarnessBug, match="GET /: it is asked, and was taken for begun"):
            exchange.send(b"early")
        exchange.answer(200, {}, b"")
        for again in (exchange.end, lambda: exchange.answer(200, {}, b"")):
            with pytest.raises(HarnessBug, match="it is over"):
                again()
        exchange.cut()
        assert not exchange.is_gone


@pytest.mark.parametrize("code", [200, 204, 304])
def test_a_head_request_gets_no_body(listener: Listener, code: int) -> None:
    """It is told how long the body would be; 204 and 304 have none for anybody."""
    line = b"HEAD / HTTP/1.1" if code == 200 else b"GET / HTTP/1.1"
    with program(listener, request(line)) as client:
        asked(listener)[0].answer(code, {}, b"body")
        raw = client.socket.recv(1 << 16)
        assert raw.endswith(b"\r\n\r\n")
        assert (b"Content-Length: 4" in raw) == (code != 204)
        client.say(request(b"HEAD /w HTTP/1.1"))
        (watch,) = asked(listener)
        watch.begin(200, {})
        watch.send(b"line")
        watch.end()
        assert client.socket.recv(1 << 16).endswith(b"\r\n\r\n")
        client.say(request(b"GET /next HTTP/1.1"))
        assert client.answer().body == b"/next"


def test_who_asks_whether_it_may_send_is_told_so(listener: Listener) -> None:
    """100 Continue, once; a program that does not wait for it is not told."""
    head = request(b"PUT /p HTTP/1.1", b"Expect: 100-continue", b"Content-Length: 2")
    with program(listener, head) as client:
        pump(listener, lambda: client.has_heard(b"\r\n\r\n"))
        assert client.heard == b"HTTP/1.1 100 \r\n\r\n"
        client.heard = b""
        client.say(b"{}")
        assert client.answer().body == b"/p"
        client.say(head + b"{}")
        assert client.answer().code == 200


@pytest.mark.parametrize("said", [b"GET /v HTTP/1.0", b"GET /v HTTP/1.1"])
def test_who_will_not_stay_is_hung_up_on(listener: Listener, said: bytes) -> None:
    """HTTP/1.0 and `Connection: close`: one answer, whole or of lines, and the end."""
    for is_watch in (False, True):
        with program(listener, request(said, b"Connection: close")) as client:
            (exchange,) = asked(listener)
            if is_watch:
                exchange.begin(200, {})
                exchange.send(b"/v")
                exchange.end()
            else:
                exchange.answer(200, {}, b"/v")
            client.hang_on()
            assert b"Connection: close\r\n" in client.heard
            assert (b"chunked" in client.heard) == (is_watch and said.endswith(b"1.1"))
            assert b"/v" in client.heard


def test_who_asks_for_another_protocol_is_asked_back(listener: Listener) -> None:
    """An upgrade (`kubectl exec`) is a request like any other: whoever answers may refuse it."""
    upgrade = (b"Connection: Upgrade", b"Upgrade: SPDY/3.1")
    with program(listener, request(b"POST /exec HTTP/1.1", *upgrade)) as client:
        (exchange,) = asked(listener)
        assert exchange.asked.headers["upgrade"] == "SPDY/3.1"
        exchange.answer(403, {}, b"no")
        assert client.answer().code == 403
        client.say(request(b"GET /on HTTP/1.1"))
        assert client.answer().body == b"/on"


def test_a_long_answer_follows_as_it_is_taken(listener: Listener) -> None:
    """What the socket does not take at once comes later, byte for byte; and the next request of
    that connection waits for it."""
    body = b"".join(b"%08d" % number for number in range(2_000_000))
    with program(listener, request() + request(b"GET /next HTTP/1.1")) as client:
        asked(listener)[0].answer(200, {}, body)
        assert listener.poll(0) == []
        assert client.answer().body == body
        assert client.answer().body == b"/next"


def test_a_watcher_that_does_not_read_is_cut() -> None:
    """Its lines are kept up to a limit; then it is gone, and no memory is held for it."""
    limits = HttpLimits(unsent_bytes_max=100_000)
    with Listener(limits=limits) as listener, program(listener, request()) as slow:
        (watch,) = asked(listener)
        watch.begin(200, {})
        lines = 0
        while not watch.is_gone:
            watch.send(b"x" * 50_000)
            lines += 1
            assert lines < 1000
        slow.hang_on()
        assert len(slow.heard) > 50_000
        assert not slow.heard.endswith(b"0\r\n\r\n")


def test_it_listens_at_both_loopbacks_at_one_port(listener: Listener) -> None:
    """A program that takes localhost for ::1 finds it, too, where there is one."""
    for host in listener.hosts:
        with program(listener, request(b"GET /at HTTP/1.1"), host=host) as client:
            assert client.answer().body == b"/at"
    assert listener.address == f"http://127.0.0.1:{listener.port}"


def test_a_host_that_is_not_there_is_left_out() -> None:
    """It says at which it listens, and refuses to listen nowhere."""
    with Listener(("203.0.113.1", "127.0.0.1")) as listener:
        assert listener.hosts == ("127.0.0.1",)
        with pytest.raises(OSError, match=r"is taken\. Next: port 0"):
            Listener(port=listener.port)
    with pytest.raises(OSError, match="has none of 203"):
        Listener(("203.0.113.1",))


def test_http_client_keeps_one_connection(listener: Listener) -> None:
    """The standard library's client: requests over one connection, a body in chunks among them."""

    def ask() -> list[tuple[int, bytes]]:
        here = http.client.HTTPConnection("127.0.0.1", listener.port, timeout=WITHIN_S)
        found = []
        for number in range(3):
            chunks = iter([b"one", b"two"]) if number == 1 else None
            auth = {"Authorization": f"Bearer {TOKEN}"}
            here.request("POST", f"/{number}", chunks, auth, encode_chunked=chunks is not None)
            got = here.getresponse()
            found.append((got.status, got.read()))
        here.close()
        return found

    found, exchanges = beside(listener, ask)
    assert found == [(200, b""), (200, b"onetwo"), (200, b"")]
    assert [each.asked.path for each in exchanges] == ["/0", "/1", "/2"]


def test_httpx_reads_a_watch_line_by_line(listener: Listener) -> None:
    """A real client: a list, a watch of three lines to its end, a refusal; one connection."""

    def ask() -> list[object]:
        auth = {"Authorization": f"Bearer {TOKEN}"}
        with httpx.Client(base_url=listener.address, headers=auth, trust_env=False) as client:
            first = client.put("/list", json={"a": 1}).json()
            with client.stream("GET", "/watch") as watch:
                lines = [json.loads(line) for line in watch.iter_lines()]
            return [first, lines, client.get("/list/../x%zz").status_code]

    found, exchanges = beside(listener, ask)
    assert found == [{"a": 1}, [{"n": 0}, {"n": 1}, {"n": 2}], 400]
    assert [each.asked.path for each in exchanges] == ["/list", "/watch"]


def beside(listener: Listener, ask: Callable[[], Found]) -> tuple[Found, list[Exchange]]:
    """What a client in a thread found, and what it asked; each answer is the body it sent."""
    exchanges: list[Exchange] = []
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(ask)
        for _ in tries("the client is not done"):
            if found.done():
                break
            for exchange in listener.poll(TINY_S):
                exchanges.append(exchange)
                if exchange.asked.path != "/watch":
                    exchange.answer(200, JSON, exchange.asked.body)
                    continue
                exchange.begin(200, JSON)
                for number in range(3):
                    exchange.send(b'{"n": %d}\n' % number)
                exchange.end()
    return found.result(), exchanges
