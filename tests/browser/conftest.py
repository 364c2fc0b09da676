"""What tests of the page share: one Chromium, the page of the stolen slot, and one window of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.shared.chromium import (
    Open,
    Seen,
    chromium,
    seen,
    written,
)
from tests.browser.shared.stolen_slot_page import page_data
from tests.browser.shared.toy_map import toy_map
from tests.needs import needs


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests of a module."""
    with chromium(needs("chromium")) as launched:
        yield launched


@pytest.fixture(scope="module")
def stolen_slot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the stolen slot, with a map to play on."""
    return written(tmp_path_factory.mktemp("page") / "page.html", page_data(told_map=toy_map()))


@pytest.fixture(scope="module")
def window(browser: Browser, stolen_slot: Path) -> Iterator[Seen]:
    """One window, in which page after page is opened."""
    with seen(browser, stolen_slot) as it:
        yield it


@pytest.fixture
def opened(browser: Browser, window: Seen, stolen_slot: Path) -> Open:
    """Opens a page: in the one window, or under other options in a window of its own, which takes
    three times as long."""

    def opens(
        place: str = "", *, file: Path | None = None, **options: Any
    ) -> AbstractContextManager[Seen]:
        named = file or stolen_slot
        if options:
            return seen(browser, named, place, **options)
        return nullcontext(window.show(named, place))

    return opens
