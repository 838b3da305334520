"""The page in real Chromium: photo in, tags out, heat map drawn; keyboard, errors, nothing from outside."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from tests.service.serving import Service, serving

from orderless.report.attention import heat_map


@pytest.fixture
def page(browser: Any, service: Service) -> Iterator[Any]:
    """A fresh page; at the end nothing was asked of other machines and no script failed."""
    context = browser.new_context(viewport={"width": 1100, "height": 800}, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    found, asked, failed = context.new_page(), [], []
    found.on("request", lambda request: asked.append(request.url))
    found.on("pageerror", lambda error: failed.append(str(error)))
    found.goto(service.address)
    yield found
    context.close()
    assert [url for url in asked if not url.startswith((service.address, "blob:"))] == []
    assert failed == []


def painted(page: Any) -> int:
    """How many pixels of the heat map are not transparent."""
    count: int = page.evaluate(
        """() => {
          const canvas = document.getElementById("heat");
          const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          return data.filter((value, i) => i % 4 === 3 && value > 0).length;
        }"""
    )
    return count


def test_upload_tags_and_heat_map(page: Any, service: Service, file: Path, photo: bytes) -> None:
    page.set_input_files("#file", file)
    page.wait_for_selector(".tag")
    expected = httpx.post(f"{service.address}/v1/tags", content=photo, timeout=60).json()["images"][0]["tags"]
    assert page.locator(".tag .label").all_text_contents() == [tag["label"] for tag in expected]
    assert re.fullmatch(r"\d+(\.\d)? %", page.locator(".tag .score").first.text_content())
    assert not page.locator(".looking").count()
    page.hover(".tag >> nth=1")
    assert page.locator("#stage.looking").count() == 1
    assert painted(page) > 1000
    assert expected[1]["label"] in page.text_content("#legend-text")
    page.mouse.move(5, 5)
    assert not page.locator(".looking").count()
    page.click(".tag >> nth=0")  # as a tap does: the map stays
    page.mouse.move(5, 5)
    assert page.locator("#stage.looking").count() == 1
    assert page.get_attribute(".tag >> nth=0", "aria-pressed") == "true"


def test_a_label_that_is_a_script_stays_text(page: Any, file: Path) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.set_input_files("#file", file)
    page.wait_for_selector(".tag")
    assert "<script>alert(1)</script>" in page.locator(".tag .label").all_text_contents()
    assert page.locator("main script").count() == 0
    assert dialogs == []


def test_by_keyboard_alone(page: Any) -> None:
    page.locator("[data-example=street]").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".tag")
    for _ in range(50):
        if page.evaluate("document.activeElement.className") == "tag":
            break
        page.keyboard.press("Tab")
    else:
        pytest.fail("no tag is reached with 50 presses of Tab")
    assert page.locator("#stage.looking").count() == 1
    first = page.text_content("#legend-text")
    page.keyboard.press("ArrowDown")
    assert page.text_content("#legend-text") != first
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
    page.keyboard.press("Enter")
    assert page.locator(".tag[aria-pressed=true]").count() == 1
    page.keyboard.press("Escape")
    assert page.locator(".tag[aria-pressed=true]").count() == 0
    assert "pla:" in page.text_content("#status")  # what a screen reader is told


def test_why_this_order(page: Any, file: Path) -> None:
    page.set_input_files("#file", file)
    page.wait_for_selector(".tag")
    page.click("summary")
    assert page.locator(".step").count() == 8
    assert page.locator(".step >> nth=0 >> .others li").count() == 3
    assert "again, dropped" in page.locator(".step .wrote .score").all_text_contents()[-1]


def test_two_models_side_by_side_and_json(page: Any, file: Path) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.set_input_files("#file", file)
    page.wait_for_selector(".tag")
    page.check("#switch input >> nth=2")
    page.wait_for_selector(".results.pair .result >> nth=1")
    assert page.locator(".result .model").all_text_contents() == ["pla", "bce"]
    assert page.locator(".only-here").count() > 0
    page.click("#copy")
    page.wait_for_selector("#status:text('Copied')", state="attached")  # the button soon says something else
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert [answer["model"] for answer in copied] == ["pla", "bce"]
    assert copied[0]["images"][0]["tags"][0]["attention"]


def test_paste_and_drop(page: Any, photo: bytes) -> None:
    for kind, holder in (("paste", "clipboardData"), ("drop", "dataTransfer")):
        page.evaluate(
            """([kind, holder, bytes]) => {
              const transfer = new DataTransfer();
              transfer.items.add(new File([new Uint8Array(bytes)], kind + ".jpg", { type: "image/jpeg" }));
              const event = new Event(kind, { bubbles: true, cancelable: true });
              Object.defineProperty(event, holder, { value: transfer });
              document.body.dispatchEvent(event);
            }""",
            [kind, holder, list(photo)],
        )
        page.wait_for_selector(f"#photo[alt='The photo {kind}.jpg']")
        page.wait_for_selector(".tag")


def test_a_text_file_is_an_error_in_words(page: Any, tmp_path: Path, file: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no image")
    page.set_input_files("#file", text)
    page.wait_for_selector("#error:not([hidden])")
    assert "not an image" in page.text_content("#error")
    assert page.locator(".tag").count() == 0
    page.set_input_files("#file", file)
    page.wait_for_selector(".tag")
    assert page.locator("#error:not([hidden])").count() == 0


def test_the_map_agrees_with_the_command_line(page: Any) -> None:
    """The same map, to a rounding error, as `predict --attention` draws."""
    random = np.random.default_rng(0)
    for rows, columns, width, height in ((6, 6, 96, 64), (7, 7, 50, 120), (1, 5, 40, 30), (6, 6, 4, 3)):
        grid = random.random((rows, columns)).astype(np.float32)
        script = "async ([grid, w, h]) => [...(await import('/static/heat.js')).heatMap(grid, w, h)]"
        drawn = page.evaluate(script, [grid.tolist(), width, height])
        np.testing.assert_allclose(np.reshape(drawn, (height, width)), heat_map(grid, (width, height)), atol=2e-3)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(page: Any, file: Path, scheme: str) -> None:
    """WCAG AA: a contrast of 4.5 between text and what is behind it."""
    page.emulate_media(color_scheme=scheme)
    page.set_input_files("#file", file)
    page.wait_for_selector(".tag")
    page.click("summary")
    for selector in (
        "header p",
        "header a",
        ".tag .label",
        ".tag .score",
        ".reason",
        ".others .score",
        "#copy",
        "footer",
    ):
        front, back = page.evaluate(
            """(selector) => {
              const element = document.querySelector(selector);
              const colour = (node) => getComputedStyle(node).backgroundColor;
              let behind = element;
              while (/, 0\\)$|transparent/.test(colour(behind))) behind = behind.parentElement;
              return [getComputedStyle(element).color, colour(behind)];
            }""",
            selector,
        )
        assert contrast(front, back) >= 4.5, selector


def contrast(front: str, back: str) -> float:
    def light(colour: str) -> float:
        parts = np.array([float(x) for x in re.findall(r"[\d.]+", colour)[:3]]) / 255
        linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    dark, bright = sorted((light(front), light(back)))
    return (bright + 0.05) / (dark + 0.05)


def test_on_a_phone_nothing_sticks_out(browser: Any, service: Service, file: Path) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(service.address)
    page.set_input_files("#file", file)
    page.wait_for_selector(".tag")
    page.tap(".tag >> nth=0")
    assert page.locator("#stage.looking").count() == 1
    page.check("#switch input >> nth=2", force=True)
    page.wait_for_selector(".results.pair .result >> nth=1")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()


def test_documentation_page(page: Any, service: Service) -> None:
    page.goto(f"{service.address}/docs")
    page.wait_for_selector(".route")
    assert "/v1/tags" in page.locator(".route h3 code").all_text_contents()


def test_a_token_is_asked_for(browser: Any, runs: list[Path], file: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret")
    with serving(token_file=str(tmp_path / "token")) as service:
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.goto(service.address)
        page.fill("#token", "s3cret")
        page.keyboard.press("Enter")
        page.wait_for_selector("#token-form", state="hidden")
        page.set_input_files("#file", file)
        page.wait_for_selector(".tag")
        page.close()
