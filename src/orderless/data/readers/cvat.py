"""CVAT's export "for images" (`annotations.xml`): the tags of each image.

In a file without any tag, the labels of its boxes and polygons count instead.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from orderless.data.readers.files import SPLIT_NAMES, ImageFinder, check_some_exist, head, unique
from orderless.data.sample import Collection, Sample, complete_splits, split_samples
from orderless.errors import UsageError

FORMAT = "cvat"

_SHAPES = ("box", "polygon", "polyline", "points", "ellipse", "mask", "cuboid", "skeleton")


def detect(root: Path) -> bool:
    return _export(root) is not None


def read(root: Path, seed: int) -> Collection:
    """Read the export; the subsets of CVAT are the splits where every image has one."""
    path = _export(root)
    if path is None:
        raise UsageError(f"there is no annotations.xml of CVAT in {str(root)!r}")
    folder = root if root.is_dir() else root.parent
    finder = ImageFinder(folder)
    rows: list[tuple[str, Path, tuple[str, ...], tuple[str, ...]]] = []
    try:
        for _, element in ElementTree.iterparse(path):
            if element.tag == "image":
                name = element.get("name") or ""
                file = finder.find(name, f"{path} image {element.get('id')}")
                tags = unique(_labels(element, ("tag",)))
                rows.append((element.get("subset", ""), file, tags, unique(_labels(element, _SHAPES))))
                element.clear()
            elif element.tag == "track":
                raise UsageError(f"{path} is CVAT's export for video; export the task as 'CVAT for images'")
    except ElementTree.ParseError as error:
        raise UsageError(f"{path} is not XML to its end: {error}") from None
    if not rows:
        raise UsageError(f"{path} names no image")
    tagged = any(tags for _, _, tags, _ in rows)
    notes = [] if tagged else [f"{path.name} has no tags: the labels of its boxes and shapes were taken"]
    samples = [(subset, Sample(file, tags if tagged else shapes)) for subset, file, tags, shapes in rows]
    check_some_exist([sample for _, sample in samples], path)
    return Collection(FORMAT, _split(samples, seed, folder), root=folder, notes=notes)


def _split(samples: list[tuple[str, Sample]], seed: int, root: Path) -> dict[str, list[Sample]]:
    names = [SPLIT_NAMES.get(subset.lower()) for subset, _ in samples]
    if not any(names):
        return split_samples((sample for _, sample in samples), seed, root=root)
    if not all(names):
        subset, sample = samples[names.index(None)]
        raise UsageError(
            f"some images have a split and {names.count(None)} have none, as {sample.name!r} (its subset is {subset!r})"
        )
    splits: dict[str, list[Sample]] = {}
    for name, (_, sample) in zip(names, samples, strict=True):
        splits.setdefault(str(name), []).append(sample)
    return complete_splits(splits, seed, root=root)


def _labels(image: ElementTree.Element, kinds: tuple[str, ...]) -> list[str]:
    return [str(item.get("label")) for item in image if item.tag in kinds and item.get("label")]


def _export(root: Path) -> Path | None:
    for path in [root] if root.is_file() else sorted(root.glob("*.xml")):
        if path.suffix.lower() == ".xml" and b"<annotations" in head(path):
            return path
    return None
