"""Takes the screenshots of the service's page, `page-*.png` beside this file.

orderless serve runs/demo/pla runs/demo/bce &
python docs/images/page.py http://127.0.0.1:8000
"""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent


def main(address: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])

        def page(width: int, height: int, scheme: str) -> Any:
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
            )
            found = context.new_page()
            found.goto(address, wait_until="networkidle")
            return found

        desktop = page(1080, 760, "light")
        desktop.click("[data-example=street]")
        desktop.click(".tag >> nth=0")
        desktop.click("summary")
        save(desktop, "light")

        dark = page(1080, 760, "dark")
        dark.check("#switch input >> nth=2")
        dark.click("[data-example=beach]")
        dark.click(".tag >> nth=1")
        save(dark, "dark")

        phone = page(390, 844, "light")
        phone.click("[data-example=park]")
        phone.click(".tag >> nth=0")
        save(phone, "phone")
        browser.close()


def save(page: Any, name: str) -> None:
    """With few colours: a third of the size."""
    page.mouse.move(2, 2)
    page.wait_for_timeout(400)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    palette = image.quantize(256)
    image.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).save(HERE / f"page-{name}.png", optimize=True)


if __name__ == "__main__":
    main(sys.argv[1])
