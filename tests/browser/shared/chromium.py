"""A real Chromium, and what a page in it says and asks for while a test looks at it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import attrs
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect, sync_playwright

from testbed.page.page import render

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-sync",
)  # fmt: skip
PATIENCE_MS = 120_000
"""A fuse for what hangs; on a busy machine a page takes its time."""
GRAVE = ("moderate", "serious", "critical")


@contextmanager
def chromium(path: str) -> Iterator[Browser]:
    """The Chromium at that path, closed at the end."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=path, args=list(ARGUMENTS), timeout=PATIENCE_MS
        )
        try:
            yield launched
        finally:
            launched.close()


@attrs.define(slots=False)
class Seen:
    """One page of a file, and whatever it has said or asked for."""

    page: Page
    context: BrowserContext
    file: Path
    said: list[str] = attrs.field(factory=list)
    """What has come to its console, and what was thrown."""
    asked: list[str] = attrs.field(factory=list)

    def goto(self, place: str = "") -> Page:
        """Load the file again, at that place."""
        self.page.goto("about:blank")
        self.page.goto(self.file.as_uri() + place)
        return self.page

    def show(self, file: Path, place: str = "") -> Seen:
        """Open that file as in a new window: nothing is remembered of what was there before."""
        self.page.evaluate("localStorage.clear()")
        self.page.emulate_media(media="screen")
        self.file = file
        self.page.goto("about:blank")
        self.said.clear()
        self.asked.clear()
        self.goto(place)
        return self

    def dismiss(self, dialog: Dialog) -> None:
        """Close a dialog that a script has opened, and remember it."""
        self.said.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    @property
    def asked_outside(self) -> list[str]:
        """What it asked for beside itself; a file that it offers to save is its own."""
        own = (self.file.as_uri(), "about:", f"blob:{self.file.as_uri()[:7]}", "blob:null")
        return [url for url in self.asked if not url.startswith(own)]


@contextmanager
def seen(browser: Browser, file: Path, place: str = "", **options: Any) -> Iterator[Seen]:
    """Open that file in a context of its own; options are those of a context."""
    options = {"viewport": {"width": 1280, "height": 800}, **options}
    context = browser.new_context(**options)
    try:
        found = Seen(context.new_page(), context, file)
        found.page.set_default_timeout(PATIENCE_MS)
        found.page.on("console", lambda message: found.said.append(message.text))
        found.page.on("pageerror", lambda error: found.said.append(str(error)))
        found.page.on("request", lambda request: found.asked.append(request.url))
        found.page.on("dialog", found.dismiss)
        found.page.goto(file.as_uri() + place)
        yield found
    finally:
        context.close()


class Open(Protocol):
    """Opens a page."""

    def __call__(
        self, place: str = "", *, file: Path | None = None, **options: Any
    ) -> AbstractContextManager[Seen]:
        """Open that file, or the stolen slot, at that place."""


def written(file: Path, data: dict[str, Any]) -> Path:
    """The page of that data, as that file."""
    file.write_text(render(data), encoding="utf-8")
    return file


def sideways(page: Page) -> float:
    """How far the page lets itself be scrolled to the right."""
    return float(page.evaluate("window.scrollTo(10000, window.scrollY), window.scrollX"))


def axe_complaints(page: Page, *rules: str) -> list[str]:
    """What axe-core holds against the page as it stands, of what is more than minor; by those rules
    alone, if any are given."""
    if not page.evaluate("'axe' in window"):
        spec = find_spec("axe_playwright_python")
        assert spec is not None
        assert spec.submodule_search_locations
        script = Path(spec.submodule_search_locations[0], "axe.min.js").read_text(encoding="utf-8")
        page.evaluate(script)
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{violation['id']}: {node['html'][:150]} {node['failureSummary'][:200]}"
        for violation in found["violations"]
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    ]
