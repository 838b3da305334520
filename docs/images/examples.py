"""Draws the examples of the service's page: generated scenes, small JPEGs.

python docs/images/examples.py
"""

from __future__ import annotations

from pathlib import Path

from orderless.data.scenes import scenes

OUT = Path(__file__).parents[2] / "src/orderless/service/static/examples"
# Chosen by eye among the test scenes of seed 0: places and things that differ.
CHOSEN = {"street": 233, "living-room": 124, "beach": 78, "night": 57, "park": 426, "kitchen": 377}


def main() -> None:
    OUT.mkdir(exist_ok=True)
    samples = scenes(train=1, val=1, test=600, seed=0, size=384)["test"]
    for name, index in CHOSEN.items():
        samples[index].load().save(OUT / f"{name}.jpg", quality=80, optimize=True)
        print(f"{name}: {', '.join(samples[index].labels)}")


if __name__ == "__main__":
    main()
