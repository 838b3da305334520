"""The page in real Chromium when things go wrong, and for those who use no mouse: the way of Tab, problems, tokens."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from tests.service.serving import Service, serving

WIDE, NARROW = {"width": 1100, "height": 800}, {"width": 420, "height": 600}
UNREACHABLE = "The service cannot be reached; is it running?"
EXAMPLES = ["street", "living-room", "beach", "night", "park", "kitchen"]
TAGS = ["switch", "tag", "summary", "copy"]


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A fresh page that has gone nowhere yet; at the end no script has failed."""
    context = browser.new_context(viewport=WIDE, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    found, failed = context.new_page(), []
    found.on("pageerror", lambda error: failed.append(str(error)))
    yield found
    context.close()
    assert failed == []


def stops(page: Any, key: str) -> list[dict[str, Any]]:
    """Where the focus goes from here to the end of `main`: what it is on, how far down, whether the photo covers it."""
    found = []
    for _ in range(60):
        page.keyboard.press(key)
        page.wait_for_timeout(50)  # scrolling into view is not waited for by the key
        stop = page.evaluate(
            """() => {
              const element = document.activeElement, box = element.getBoundingClientRect();
              if (!element.closest("main")) return null;
              const middle = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
              const name = element.dataset.example || (element.name === "model" && "switch") || element.id;
              return {
                name: name || element.className || element.localName,
                down: box.top + scrollY,
                seen: Boolean(middle && element.parentElement.contains(middle)),
              };
            }"""
        )
        if stop is None or stop["name"] == "file":
            return found
        found.append(stop)
    raise AssertionError(f"the focus goes round: {found}")


def names(found: list[dict[str, Any]]) -> list[str]:
    """One "tag" for as many as follow each other."""
    return [name for name, _ in groupby(stop["name"] for stop in found)]


@pytest.mark.parametrize(
    ("size", "expected"), [(WIDE, [*EXAMPLES, *TAGS]), (NARROW, [*TAGS, *EXAMPLES])], ids=["wide", "narrow"]
)
def test_tab_goes_as_the_eye_goes(page: Any, service: Service, file: Path, size: Any, expected: list[str]) -> None:
    page.set_viewport_size(size)
    page.goto(service.address)
    page.wait_for_selector("#switch:not([hidden])")
    page.focus("#file")
    assert names(stops(page, "Tab")) == [*EXAMPLES, "switch"]  # no tags yet: the examples stand under the invitation
    page.set_input_files("#file", file)
    page.wait_for_selector(".tag")
    page.click("summary")
    page.focus("#file")
    there = stops(page, "Tab")
    assert names(there) == expected
    page.focus("#copy" if size is WIDE else "[data-example=kitchen]")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    back = stops(page, "Shift+Tab")
    assert names(back) == expected[-2::-1]
    assert all(stop["seen"] for stop in there + back)
    if size is NARROW:
        assert [stop["down"] for stop in there] == sorted(stop["down"] for stop in there)


def test_the_examples_follow_the_window(page: Any, service: Service) -> None:
    page.set_viewport_size(NARROW)
    page.goto(service.address)
    page.focus("[data-example=park]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".tag")
    for size, home in ((NARROW, "main"), (WIDE, "left"), (NARROW, "main")):
        page.set_viewport_size(size)
        page.wait_for_selector(f"#{home} > #tries")
        assert page.evaluate("document.activeElement.dataset.example") == "park"


def in_view(page: Any, selector: str) -> bool:
    box, height = page.locator(selector).bounding_box(), page.viewport_size["height"]
    return bool(-1 < box["y"] < height - box["height"] + 1)  # scrolling knows whole pixels only


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_an_example_without_a_service_is_an_error_in_words(page: Any, file: Path, size: Any) -> None:
    page.set_viewport_size(size)
    with serving() as service:
        page.goto(service.address)
        page.wait_for_selector("#about:not(:empty)")
        page.route("**/street.jpg", lambda route: route.fulfill(status=503))
        page.click("[data-example=street]")
        page.wait_for_selector("#error:not([hidden])")
        assert page.text_content("#error") == "The service answered 503."
        assert in_view(page, "#error")
        page.set_input_files("#file", file)
        page.wait_for_selector(".tag")
        assert not page.is_visible("#error")
        service.process.kill()
        service.process.wait()
        page.click("[data-example=beach]")
        page.wait_for_selector("#error:not([hidden])")
        assert page.text_content("#error") == UNREACHABLE
        assert page.locator(".tag").count() == 1  # of the photo that is still shown
        assert in_view(page, "#error")


def test_a_token_may_be_any_text(page: Any, file: Path, tmp_path: Path) -> None:
    token = "correct horse ☂"
    (tmp_path / "token").write_text(token, encoding="utf-8")
    with serving(token_file=str(tmp_path / "token")) as service:
        page.goto(service.address)
        page.fill("#token", token[:-1] + "☃")
        with page.expect_response("**/v1/models") as answer:
            page.keyboard.press("Enter")
        assert answer.value.status == 401
        page.wait_for_selector("#error:not([hidden])")
        page.route("**/v1/models", lambda route: route.abort())
        page.keyboard.press("Enter")
        page.wait_for_selector(f"text={UNREACHABLE}")
        assert page.is_visible("#token-form")  # no token has worked: there must be a way to give another
        page.set_input_files("#file", file)
        page.wait_for_selector("text=The token is missing or wrong")
        assert page.is_visible("#token-form")
        page.unroute("**/v1/models")
        page.fill("#token", token)
        page.keyboard.press("Enter")
        page.wait_for_selector(".tag")
        assert not page.is_visible("#token-form")
        assert not page.is_visible("#error")


def test_only_the_end_is_in_italics(page: Any, service: Service) -> None:
    page.goto(service.address)
    slanted = page.evaluate(
        """async () => {
          const line = (label) => ({ label, probability: 0.5 });
          const steps = [
            { ...line("dog"), runners_up: [line("cat"), line(null)] },
            { ...line(null), runners_up: [line("bird"), line("car")] },
          ];
          const { showResult } = await import("/static/result.js");
          document.getElementById("results").append(showResult({ model: "x", images: [{ tags: [], steps }] }, {}));
          return [...document.querySelectorAll(".steps .label")].map(
            (label) => [label.textContent, getComputedStyle(label).fontStyle]);
        }"""
    )
    assert slanted == [
        ["dog", "normal"], ["cat", "normal"], ["end", "italic"],
        ["end", "italic"], ["bird", "normal"], ["car", "normal"],
    ]  # fmt: skip
