"""A door to ask an API server at by HTTP requests, without HTTP: from a request to its bytes."""

from __future__ import annotations

from typing import Any

import attrs

from actors.apiserver import ApiServer
from testbed.attended.http.answers import line_of, refused, written
from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.meaning import ToServer, ToWatch, meaning_of
from testbed.attended.http.reply import Reply
from testbed.errors import ApiError
from testbed.objects.codec import decode, encode
from testbed.store.endpoint import answer_at_once
from testbed.store.store import Store
from testbed.store.watch import Watch


@attrs.define
class Door:
    """One API server over a Store, asked by HTTP requests without any HTTP."""

    server: Any = attrs.field(factory=lambda: ApiServer(Store()))

    def ask(self, method: str, url: str, tree: Any = None, **headers: str) -> Any:
        """The Reply to a request; or the Watch that it opens."""
        path, _, query = url.partition("?")
        pairs = [each.partition("=") for each in query.split("&") if each]
        body = b"" if tree is None else encode(tree)
        request = HttpRequest(method, path, tuple((a, b) for a, _, b in pairs), headers, body)
        try:
            meaning = meaning_of(request)
            if isinstance(meaning, Reply):
                return meaning
            assert isinstance(meaning, ToServer | ToWatch)
            answer = answer_at_once(self.server, meaning.operation, "alpha")
        except ApiError as error:
            return refused(error, request)
        if isinstance(meaning, ToServer):
            return written(answer, meaning, 60_000)
        return [decode(line_of(each, meaning.form, 60_000)) for each in taken(answer)]

    def told(self, *said: Any, **headers: str) -> tuple[int, Any]:
        """The code and the tree of the Reply."""
        reply = self.ask(*said, **headers)
        assert reply.headers["content-type"] == "application/json"
        return reply.code, decode(reply.body)


def taken(watch: Watch) -> Any:
    """All that a watch has to deliver now."""
    while watch.is_ready:
        yield watch.take()
    if watch.owes_bookmark:
        yield watch.take_bookmark()
