"""Requests that no well-behaved program sends, each with what becomes of it; and some that only
look so, and are served."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from testbed.attended.http.limits import HttpLimits
from tests.attended.programs import TOKEN, request

LIMITS = HttpLimits(
    head_bytes_max=2048, body_bytes_max=4096, ahead_bytes_max=4096, head_s=0.04, idle_s=0.08,
    linger_s=0.04,
)  # fmt: skip
HUNG_UP = 0
SERVED = 200
EXPECT = b"Expect: 100-continue"


@attrs.frozen
class Malice:
    """What one program sends, and the answers it gets: HUNG_UP among them is none at all."""

    claim: str
    said: bytes
    codes: tuple[int, ...]
    says_no_more: bool = False
    """Whether it then shuts down its own side."""


def row(claim: str, said: bytes, *codes: int, ends: bool = False) -> Malice:
    """One row of the table."""
    return Malice(claim, said, codes, ends)


GOOD = request(b"GET /good HTTP/1.1")
BARE = b"Host: here\r\nAuthorization: Bearer " + TOKEN.encode() + b"\r\n"


def raw(first: bytes) -> bytes:
    """A request of which only the first line is said; its end is CRLF."""
    return first + b"\r\n" + BARE + b"\r\n"


def chunked(body: bytes, *headers: bytes) -> bytes:
    """A request with this as its body in chunks, well made or not."""
    return request(b"POST / HTTP/1.1", b"Transfer-Encoding: chunked", *headers) + body


def lines() -> Iterator[Malice]:
    """Request lines."""
    for said in (
        b"GET", b"GET /", b"GET  / HTTP/1.1", b"GET / HTTP/1.1 ", b" GET / HTTP/1.1",
        b"GET / / HTTP/1.1", b"GET\t/ HTTP/1.1", b"GET / HTTP/1", b"GET / HTTP/11",
        b"GET / http/1.1", b"GET / HTTPS/1.1", b"GET / HTTP/1.1\0", b"G\0T / HTTP/1.1",
        b"G(T / HTTP/1.1", b"GET /\xff HTTP/1.1", b"GET /\x7f HTTP/1.1", b"GET /a\0b HTTP/1.1",
        b"GET HTTP/1.1", b"/ HTTP/1.1", b"HTTP/1.1 200 OK", b"\xe2\x80\xaeGET / HTTP/1.1",
        b"GET / HTTP/1.1\rX: y", b"GET / HTTP/-1.1", b"GET / HTTP/1.1.1", b"GET /a\x0bb HTTP/1.1",
    ):  # fmt: skip
        yield row(f"request line {said!r}", raw(said), 400)
    for said in (b"\0", b"\x01" * 10, b"\x80\x2e\x01\x03\x01\0\r\n\r\n", b"\r\n\r\n", b"\n\n"):
        yield row(f"not HTTP at all {said!r}", said, 400)
    yield row("TLS", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + bytes(64), 400)
    yield row("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505)
    for version in (b"0.9", b"1.2", b"2.0", b"3.0", b"9.9"):
        yield row(f"version {version!r}", raw(b"GET / HTTP/" + version), 505)
    for method in (b"get", b"GETT", b"TRACE", b"CONNECT", b"PROPFIND", b"WATCH"):
        yield row(f"method {method!r}", raw(method + b" / HTTP/1.1"), 405)


def targets() -> Iterator[Malice]:
    """Paths and queries."""
    for said in (
        b"*", b"here:80", b"api", b"?a=b", b"http://", b"ftp://here/", b"http:///", b"/a#b",
        b"/%", b"/%4", b"/%zz", b"/%%34", b"/%u0041", b"/a%2", b"/%ff", b"/%c0%ae", b"/%ed%a0%80",
        b"/..", b"/../etc", b"/a/../b", b"/a/..", b"/%2e%2e/x", b"/.%2E", b"/a%2f..%2fb",
        b"http://here/..", b"/%00", b"/a%00b", b"/%0d%0aX:y", b"/%1b[0m", b"/%7f",
        b"/?a=%", b"/?a=%f", b"/?%zz=1", b"/?a=%00", b"/?%00", b"/?a=%ff", b"/?a#b",
    ):  # fmt: skip
        yield row(f"target {said!r}", raw(b"GET " + said + b" HTTP/1.1"), 400)
    for said in (
        b"/...", b"/a..b", b"//", b"/./a", b"/%41", b"/a%2Fb", b"/?a=..", b"/?a=%25", b"/?&&=&",
        b"http://elsewhere", b"HTTPS://here/x?y", b"http://[::1]:1/", b"/\\..\\",
        b"/?" + b"&" * 999,
    ):  # fmt: skip
        yield row(f"served: target {said!r}", raw(b"GET " + said + b" HTTP/1.1"), SERVED)


def fields() -> Iterator[Malice]:
    """Headers."""
    for said in (
        b"X y", b"X : y", b": y", b"X\0: y", b"X: y\0", b"X(: y", b"X: y\rZ: z", b"\xff: y", b"X",
        b"Host: two", b"X: \x0b", b"=: =\r\n: ",
    ):  # fmt: skip
        yield row(f"header {said!r}", request(b"GET / HTTP/1.1", said), 400)
    nobody = b"GET / HTTP/1.1\r\nAuthorization: Bearer " + TOKEN.encode() + b"\r\n\r\n"
    yield row("no Host", nobody, 400)
    yield row("a header before the first", b"GET / HTTP/1.1\r\n X: y\r\n\r\n", 400)
    yield row("expects the unknown", request(b"GET / HTTP/1.1", b"Expect: tea"), 417)
    yield row("served: old folding", request(b"GET / HTTP/1.1", b"X: y\r\n z"), SERVED)
    yield row("served: lines end in LF", GOOD.replace(b"\r\n", b"\n"), SERVED)
    yield row("served: a value in Latin-1", request(b"GET / HTTP/1.1", b"X: \xe9"), SERVED)


def lengths() -> Iterator[Malice]:
    """Where a body ends."""
    for said in (
        b"-1", b"+1", b"0x1", b"1e3", b"1 1", b"1,2", b"a", b"1.0", b"9" * 30, b"\xb2", b"1;", b"",
    ):  # fmt: skip
        headers = b"Content-Length: " + said
        yield row(f"length {said[:9]!r}", request(b"POST / HTTP/1.1", headers), 400)
    two = (b"Content-Length: 1", b"Content-Length: 2")
    yield row("two lengths", request(b"POST / HTTP/1.1", *two) + b"a", 400)
    for size in (4097, 1 << 30, 10**19):
        header = b"Content-Length: %d" % size
        yield row(f"a body of {size} bytes", request(b"POST / HTTP/1.1", header) + b"x" * 999, 413)
        expect = request(b"POST / HTTP/1.1", header, EXPECT)
        yield row(f"may it send {size} bytes", expect, 413)
    for said in (b"gzip", b"chunked, gzip", b"gzip, chunked", b"identity", b"chunked;q=1", b""):
        header = b"Transfer-Encoding: " + said
        yield row(f"encoding {said!r}", request(b"POST / HTTP/1.1", header) + b"0\r\n\r\n", 501)
    twice = chunked(b"0\r\n\r\n", b"Transfer-Encoding: chunked")
    yield row("chunked twice", twice, 501)
    both = chunked(b"0\r\n\r\n", b"Content-Length: 5")
    yield row("a length and chunks", both, 400)
    yield row("chunks in HTTP/1.0", both.replace(b"HTTP/1.1", b"HTTP/1.0"), 400)
    same = (b"Content-Length: 1", b"Content-Length: 1")
    yield row("served: one length twice", request(b"POST / HTTP/1.1", *same) + b"a", SERVED)


def chunks() -> Iterator[Malice]:
    """Bodies in chunks."""
    for said in (
        b"x\r\n", b"-1\r\n", b"0x1\r\na\r\n", b"\r\n", b" 1\r\na\r\n", b"1\r\nab\r\n",
        b"1\r\na\n\n",
        b"g" * 9 + b"\r\n", b"1" * 21 + b"\r\n", b"1 a\r\na\r\n", b"0\r\nX y\r\n\r\n", b"\0\r\n",
        b"1\r\na0\r\n\r\n", b"1\r\na\r\n\r\n", b"0\r\n X: y\r\n\r\n",
        b"1\r\na\r\nGET / HTTP/1.1\r\n",
    ):  # fmt: skip
        yield row(f"chunks {said!r}", chunked(said), 400)
    yield row("a long extension", chunked(b"1;" + b"x" * 3000), 400)
    yield row("long trailers", chunked(b"0\r\n" + b"X: y\r\n" * 999), 400)
    yield row("a huge chunk", chunked(b"FFFFFFFFFF\r\n" + b"x" * 5000), 413)
    yield row("small chunks, too many", chunked(b"10\r\n0123456789abcdef\r\n" * 300), 413)
    yield row("more framing than body", chunked(b"1;xxxxxxxx\r\na\r\n" * 900), 413)
    well = b"3;a=b\r\nabc\r\n0A \r\n0123456789\r\n0\r\nX: y\r\n\r\n"
    yield row("served: extensions and trailers", chunked(well), SERVED)


def sizes() -> Iterator[Malice]:
    """Heads that are too long."""
    long = b"x" * 3000
    yield row("a long path", raw(b"GET /" + long + b" HTTP/1.1"), 431)
    yield row("a long query", raw(b"GET /?" + long + b" HTTP/1.1"), 431)
    yield row("a line without an end", b"GET /" + long, 414)
    yield row("a method without an end", long, 414)
    yield row("a long header", request(b"GET / HTTP/1.1", b"X: " + long), 431)
    yield row("a header without an end", GOOD[:-2] + b"X: " + long, 431)
    yield row("many headers", request(b"GET / HTTP/1.1", *[b"X: y"] * 600), 431)
    yield row("headers without an end", GOOD[:-2] + b"X: y\r\n" * 600, 431)
    yield row("a long token", request(token="x" * 3000), 431)
    room = 2048 - len(request(b"GET / HTTP/1.1", b"X: "))
    yield row("one byte too many", request(b"GET / HTTP/1.1", b"X: " + b"y" * (room + 1)), 431)
    yield row("served: just not", request(b"GET / HTTP/1.1", b"X: " + b"y" * room), SERVED)
    yield row("served: a body just not", request(b"PUT / HTTP/1.1", body=b"x" * 4096), SERVED)


def halves() -> Iterator[Malice]:
    """Requests that never become whole: the program waits, or says that it sends no more."""
    body = request(b"PUT / HTTP/1.1", body=b"body")
    for what, said in {
        "a letter": b"G", "half a line": b"GET / HT", "a line": b"GET / HTTP/1.1\r\n",
        "half a head": GOOD[:40], "a head but for its end": GOOD[:-1], "half a body": body[:-2],
        "a head without its body": body[:-4], "half a chunk": chunked(b"9\r\nab"),
        "no last chunk": chunked(b"1\r\na\r\n"), "half a chunk's length": chunked(b"1"),
        "no end of trailers": chunked(b"0\r\nX: y\r\n"), "half of the second": GOOD + GOOD[:30],
        "it asks to send": request(b"PUT / HTTP/1.1", EXPECT, b"Content-Length: 4"),
    }.items():  # fmt: skip
        first = (SERVED,) if what == "half of the second" else ()
        first = (100,) if what == "it asks to send" else first
        yield row(f"{what}, and waits", said, *first, 408)
        yield row(f"{what}, and ends", said, *first, 400, ends=True)
    yield row("nothing, and waits", b"", HUNG_UP)
    yield row("nothing, and ends", b"", HUNG_UP, ends=True)
    yield row("served: one, and waits", GOOD, SERVED, HUNG_UP)
    yield row("served: two, and ends", GOOD + GOOD, SERVED, SERVED, HUNG_UP, ends=True)


def strangers() -> Iterator[Malice]:
    """Programs that nobody knows, whatever else is wrong with what they ask."""
    for said in (
        b"", b"Bearer", b"Bearer ", b"Bearer x", b"Bearer " + TOKEN.encode() + b"x", b"Basic eDp5",
        TOKEN.encode(), b"Bearer" + TOKEN.encode(), b"Token " + TOKEN.encode(),
        b"Bearer " + TOKEN.upper().encode(), b"Bearer \xe9", b"Bearer x, Bearer " + TOKEN.encode(),
        b"Bearer " + TOKEN.encode() + b"\r\nAuthorization: Bearer " + TOKEN.encode(),
    ):  # fmt: skip
        said = b"GET / HTTP/1.1\r\nHost: here\r\nAuthorization: " + said + b"\r\n\r\n"
        yield row(f"token {said[43:-4]!r}", said, 401)
    yield row("no token", b"GET / HTTP/1.1\r\nHost: here\r\n\r\n", 401)
    yield row("in the query", b"GET /?token=open-sesame HTTP/1.1\r\nHost: here\r\n\r\n", 401)
    for what, said in {
        "with a huge body": request(b"PUT / HTTP/1.1", b"Content-Length: 999999999", token="x"),
        "with a body": request(b"PUT / HTTP/1.1", body=b"x" * 4000, token="x"),
        "asks to send": request(b"PUT / HTTP/1.1", EXPECT, token="x"),
        "on a crooked path": request(b"GET /../%zz HTTP/1.1", token="x"),
        "by a strange method": request(b"STEAL / HTTP/1.1", token="x"),
        "twice at once": request(token="x") * 2,
    }.items():
        yield row(f"a stranger {what}", said, 401)
    yield row("served: bearer, small", GOOD.replace(b"Bearer", b"bearer"), SERVED)


def pipelines() -> Iterator[Malice]:
    """Requests behind others on one connection."""
    yield row("a good one, then noise", GOOD + b"\0\1\2\r\n\r\n", SERVED, 400)
    yield row("a good one, then a stranger", GOOD + request(token="x"), SERVED, 401)
    yield row("a bad one hides the good", raw(b"GET /.. HTTP/1.1") + GOOD, 400)
    yield row(
        "a length too short", request(b"PUT / HTTP/1.1", body=b"a") + b"bc\r\n\r\n", SERVED, 400
    )
    yield row("a request in a body", request(b"PUT / HTTP/1.1", body=GOOD) + GOOD, SERVED, SERVED)
    yield row(
        "one behind the last", request(b"GET / HTTP/1.1", b"Connection: close") + GOOD, SERVED
    )
    yield row("forty, then a bad one", GOOD * 40 + b"x\r\n\r\n", *[SERVED] * 40, 400)
    yield row("TLS behind a good one", GOOD + b"\x16\x03\x01\0\0", SERVED, 400)


ROWS = [
    *lines(), *targets(), *fields(), *lengths(), *chunks(), *sizes(), *halves(), *strangers(),
    *pipelines(),
]  # fmt: skip


def to_server(
    method: bytes, what: bytes, body: bytes = b"", media: bytes = b"application/json"
) -> bytes:
    """A request for something in the namespace default."""
    line = method + b" /api/v1/namespaces/default/" + what + b" HTTP/1.1"
    return request(line, b"Content-Type: " + media, body=body)


POD = (
    b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"q"},'
    b'"spec":{"containers":[{"name":"c","image":"i"}]}}'
)
MERGE = b"application/merge-patch+json"


def writes() -> Iterator[Malice]:
    """Requests that would write, if they were whole, allowed, or meant anything."""
    make = to_server(b"POST", b"pods", POD)
    yield row("a pod but for its last letter, and waits", make[:-1], 408)
    yield row("a pod but for its last letter, and ends", make[:-1], 400, ends=True)
    line = b"POST /api/v1/namespaces/default/pods HTTP/1.1"
    chunk = b"%x\r\n%s\r\n" % (len(POD), POD)
    begun = request(line, b"Transfer-Encoding: chunked") + chunk
    yield row("a pod without the last chunk, and waits", begun, 408)
    yield row("a pod without the last chunk, and ends", begun, 400, ends=True)
    yield row("a pod and noise", begun + b"noise\r\n", 400)
    wide = POD[:-1] + b" " * 5000 + b"}"
    yield row("a pod that is too wide", to_server(b"POST", b"pods", wide), 413)
    for method, what in (
        (b"POST", b"pods"), (b"PUT", b"pods/p"), (b"PATCH", b"pods/p"), (b"DELETE", b"pods/p"),
        (b"DELETE", b"pods"), (b"POST", b"pods/p/binding"), (b"POST", b"pods/p/eviction"),
        (b"PATCH", b"pods/p/status"),
    ):  # fmt: skip
        said = to_server(method, what, POD).replace(TOKEN.encode(), b"x" * len(TOKEN))
        yield row(f"a stranger's {method.decode()} {what.decode()}", said, 401)
    for body in (
        b"", b"{", b"[]", b"null", b"1", b'"pod"', POD[:-2], POD + b"}", b"\0", b"\xff{}",
        b"[" * 2000, b'{"a":' * 700, b"{'kind': 'Pod'}", b"NaN", POD.replace(b'"q"', b"1"),
        POD.replace(b'"Pod"', b'"Node"'),
        POD.replace(b'"v1"', b'"v9"'), POD.replace(b'"q"', b'"q","namespace":"other"'),
        POD.replace(b"[{", b"{").replace(b"}]", b"}"), POD.replace(b'"name":"c"', b'"name":["c"]'),
        POD.replace(b'"q"', b'"q","labels":[1]'), POD.replace(b'"i"', b"9" * 400),
    ):  # fmt: skip
        shown = body[:9].decode("latin-1") + f" of {len(body)} bytes, {hash_of(body)}"
        yield row(f"to POST {shown}", to_server(b"POST", b"pods", body), 400)
    for name in (b"Q", b"q_", b"-q", b"..", b"q" * 254, b"q/r", b"q\\u0000", b""):
        said = to_server(b"POST", b"pods", POD.replace(b'"q"', b'"' + name + b'"'))
        yield row(f"a pod called {name[:9]!r}", said, 422)
    for media in (b"application/vnd.kubernetes.protobuf", b"text/plain", b"image/png"):
        yield row(f"a pod as {media.decode()}", to_server(b"POST", b"pods", POD, media), 415)
        said = to_server(b"PATCH", b"pods/p", b"{}", media)
        yield row(f"a patch as {media.decode()}", said, 415)
    for body, code in (
        (b"", 400), (b"{", 400), (b"[]", 400), (b"1", 400), (b'{"metadata":1}', 422),
        (b'{"spec":{"containers":{}}}', 422),
    ):  # fmt: skip
        yield row(f"a patch {body!r}", to_server(b"PATCH", b"pods/p", body, MERGE), code)
    for method, what, code in (
        (b"PUT", b"pods/p", 400), (b"POST", b"pods/p", 405), (b"PUT", b"pods", 405),
        (b"PATCH", b"pods", 405), (b"POST", b"crumbs", 404), (b"DELETE", b"pods/none", 404),
    ):  # fmt: skip
        said = to_server(method, what, POD)
        yield row(f"{method.decode()} {what.decode()}", said, code)


def hash_of(body: bytes) -> int:
    """A number that tells bodies of one length apart."""
    return sum(place * byte for place, byte in enumerate(body))


WRITES = [*writes()]
"""What is refused only where there is a World."""
