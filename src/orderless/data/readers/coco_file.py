"""One annotation file in the COCO form: `images`, `annotations`, `categories`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orderless.data.readers.jsonstream import stream
from orderless.data.sample import Sample
from orderless.errors import UsageError


@dataclass
class CocoFile:
    """What is needed of the file: images, the largest object of each category in each image, categories."""

    path: Path
    images: dict[Any, tuple[str, float]] = field(default_factory=dict)  # id -> file name, pixels
    largest: dict[Any, dict[Any, float]] = field(default_factory=dict)  # image id -> category id -> area
    names: dict[Any, str] = field(default_factory=dict)  # category id -> name, in the file's order
    groups: dict[str, str] = field(default_factory=dict)  # name -> super-category

    def samples(self, place: Callable[[str], Path], keep_empty: bool) -> list[Sample]:
        """One sample per image; `place` finds an image file by its name."""
        order = {category: i for i, category in enumerate(self.names)}
        samples = []
        for image, (name, pixels) in self.images.items():
            areas = self.largest.get(image, {})
            if not areas and not keep_empty:
                continue
            categories = sorted(areas, key=order.__getitem__)
            known = pixels > 0 and all(areas.values())
            samples.append(
                Sample(
                    place(name),
                    tuple(self.names[category] for category in categories),
                    areas=tuple(min(1.0, areas[category] / pixels) for category in categories) if known else (),
                )
            )
        return samples


def read_coco_file(path: Path) -> CocoFile:
    """Read the file in one pass, whatever the order of its lists. Crowd objects count as objects."""
    found = CocoFile(path)
    try:
        for key, value in stream(path, skip="segmentation"):
            if key == "annotations":
                areas = found.largest.setdefault(value["image_id"], {})
                category = value["category_id"]
                areas[category] = max(areas.get(category, 0.0), _area(value))
            elif key == "images":
                pixels = float(value.get("width") or 0) * float(value.get("height") or 0)
                found.images[value["id"]] = (value["file_name"], pixels)
            elif key == "categories":
                found.names[value["id"]] = str(value["name"])
                if value.get("supercategory"):
                    found.groups[str(value["name"])] = str(value["supercategory"])
    except KeyError as error:
        raise UsageError(f"{path}: an entry of {key!r} has no {error}") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path}: an entry of {key!r} is not of the COCO form ({error})") from None
    if not found.images or not found.names:
        raise UsageError(f"{path} has no {'images' if not found.images else 'categories'}")
    for image, areas in found.largest.items():
        if image not in found.images:
            raise UsageError(f"{path}: an annotation belongs to image {image!r}, which the file does not list")
        for category in areas:
            if category not in found.names:
                raise UsageError(f"{path}: an annotation has the category {category!r}, which the file does not list")
    return found


def _area(annotation: dict[str, Any]) -> float:
    """Area in pixels: of the outline where it is given, else of the box; 0 for a label of the whole image."""
    if annotation.get("area"):
        return float(annotation["area"])
    box = annotation.get("bbox") or (0, 0, 0, 0)
    return float(box[2]) * float(box[3])
