"""Small data sets on disk in the real layouts: real field names, real nesting, real oddities.

Every `make_…(folder)` writes one data set into the folder and returns the path to open. Pictures are small
gradients that differ from each other, so that none is a duplicate of another by accident.
"""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

from PIL import Image

VOC_XML = """<annotation>
\t<folder>VOC2007</folder>
\t<filename>{name}.jpg</filename>
\t<size><width>{width}</width><height>{height}</height><depth>3</depth></size>
\t<segmented>0</segmented>
{objects}</annotation>
"""
VOC_OBJECT = """\t<object>
\t\t<name>{name}</name>
\t\t<pose>Left</pose>
\t\t<truncated>1</truncated>
\t\t<difficult>{difficult}</difficult>
\t\t<bndbox><xmin>{box[0]}</xmin><ymin>{box[1]}</ymin><xmax>{box[2]}</xmax><ymax>{box[3]}</ymax></bndbox>
\t</object>
"""


def picture(number: int, size: tuple[int, int] = (48, 40)) -> Image.Image:
    """A picture of its own: an 8x8 pattern drawn by its number, enlarged."""
    dice = random.Random(number)
    small = Image.new("RGB", (8, 8))
    small.putdata([(dice.randrange(256), dice.randrange(256), dice.randrange(256)) for _ in range(64)])
    return small.resize(size, Image.Resampling.BICUBIC)


def save(path: Path, number: int, size: tuple[int, int] = (48, 40)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture(number, size).save(path)
    return path


def write_csv(path: Path, rows: list[list[object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def make_folder(folder: Path, train: int = 6, val: int = 2, test: int = 3) -> Path:
    """metadata.csv with labels separated by `|` and a split column."""
    names = ("apple", "bread", "cheese", "date palm")
    rows: list[list[object]] = [["file_name", "labels", "split"]]
    number = 0
    for split, count in (("train", train), ("val", val), ("test", test)):
        for _ in range(count):
            save(folder / "images" / f"{number:04d}.png", number)
            labels = [name for i, name in enumerate(names) if (number + 1) >> i & 1] if number % 7 else []
            rows.append([f"images/{number:04d}.png", "|".join(labels), split])
            number += 1
    write_csv(folder / "metadata.csv", rows)
    return folder


def make_one_hot(folder: Path, count: int = 6) -> Path:
    """A table with one 0/1 column per label and no split."""
    rows: list[list[object]] = [["file_name", "width", "cat", "dog", "red fox"]]
    for number in range(count):
        save(folder / f"{number}.jpg", number)
        rows.append([f"{number}.jpg", 48, number % 2, (number + 1) % 2, int(number == 3)])
    write_csv(folder / "metadata.csv", rows)
    return folder


def make_coco(folder: Path, year: int = 2014, images: int = 8) -> Path:
    """instances_{train,val}<year>.json: ids with gaps, a crowd object, an image without annotation."""
    categories = [
        {"supercategory": "person", "id": 1, "name": "person"},
        {"supercategory": "vehicle", "id": 2, "name": "bicycle"},
        {"supercategory": "kitchen", "id": 44, "name": "bottle"},
        {"supercategory": "indoor", "id": 90, "name": "toothbrush"},
    ]
    for part, start in (("train", 1000), ("val", 5000)):
        listed, annotations = [], []
        for i in range(images):
            identity = start + 37 * i
            name = f"COCO_{part}2014_{identity:012d}.jpg" if year == 2014 else f"{identity:012d}.jpg"
            save(folder / f"{part}{year}" / name, identity)
            listed.append(
                {
                    "license": 5,
                    "file_name": name,
                    "height": 40,
                    "width": 48,
                    "date_captured": "2013-11-14",
                    "id": identity,
                }
            )
            if i == images - 1:
                continue  # an image without annotation
            for k, category in enumerate(categories[: 1 + i % 4]):
                annotations.append(
                    {
                        "segmentation": [[1.0, 2.5, 3.25, 4.0, 5.5, 6.0]],
                        "area": 48.0 * (k + 1),
                        "iscrowd": 0,
                        "image_id": identity,
                        "bbox": [1.0, 2.0, 12.0, 4.0 * (k + 1)],
                        "category_id": category["id"],
                        "id": 10_000 + len(annotations),
                    }
                )
        annotations.append(
            {
                "segmentation": {"counts": [3, 5, 1], "size": [40, 48]},
                "area": 960,
                "iscrowd": 1,
                "image_id": start,
                "bbox": [0, 0, 48, 20],
                "category_id": 90,
                "id": 900_100_000_000,
            }
        )
        path = folder / "annotations" / f"instances_{part}{year}.json"
        path.parent.mkdir(exist_ok=True)
        whole = {"info": {"year": year}, "images": listed, "licenses": [], "annotations": annotations}
        path.write_text(json.dumps({**whole, "categories": categories}))
    return folder


def make_nus_wide(folder: Path, images: int = 12, concepts: tuple[str, ...] = ("airport", "animal", "beach")) -> Path:
    """ImageList, Groundtruth and Concepts81.txt; paths with back-slashes, every fourth image without label."""
    names = [f"{('actor', 'zoo')[i % 2]}\\{i:04d}_{2_124_494_179 + i}.jpg" for i in range(images)]
    for i, name in enumerate(names):
        save(folder / "Flickr" / name.replace("\\", "/"), i)
    train = [i for i in range(images) if i % 3]
    test = [i for i in range(images) if not i % 3]
    lists = {"Imagelist": range(images), "TrainImagelist": train, "TestImagelist": test}
    for path, chosen in lists.items():
        _lines(folder / "ImageList" / f"{path}.txt", [names[i] for i in chosen], end="\r\n")
    _lines(folder / "Concepts81.txt", list(concepts))
    for k, concept in enumerate(concepts):
        has = [int(bool(i % 4) and (i >> k & 1 or k == 0)) for i in range(images)]
        truth = folder / "Groundtruth"
        _lines(truth / "AllLabels" / f"Labels_{concept}.txt", [str(value) for value in has])
        for part, chosen in (("Train", train), ("Test", test)):
            _lines(truth / "TrainTestLabels" / f"Labels_{concept}_{part}.txt", [str(has[i]) for i in chosen])
    return folder


def _lines(path: Path, lines: list[str], end: str = "\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(line + end for line in lines).encode())


def make_wider(folder: Path, images: int = 4) -> Path:
    """Two boxes in every image; 1 yes, -1 no, 0 unspecified; `val` images in the list of trainval."""
    number = 0
    for part, places in (("trainval", ("train", "val")), ("test", ("test",))):
        listed = []
        for place in places:
            for i in range(images):
                name = f"{place}/0--Parade/0_Parade_marchingband_1_{number}.jpg"
                save(folder / "Image" / name, number)
                targets = []
                for k in range(2):
                    attribute = [(1, -1, 0)[(i + j + k) % 3] for j in range(14)]
                    targets.append({"attribute": attribute, "bbox": [4.0 + k, 3.5, 20, 30.25]})
                listed.append({"targets": targets, "file_name": name, "scene_id": 0})
                number += 1
        path = folder / "Annotations" / f"wider_attribute_{part}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        names = {"0": "Male", "1": "longHair", "2": "sunglass"}
        path.write_text(json.dumps({"images": listed, "attribute_id_map": names, "scene_id_map": {"0": "Parade"}}))
    return folder


PA100K_ATTRIBUTES = ("Female", "AgeOver60", "Age18-60", "Hat", "Backpack", "boots")


def make_pa100k(folder: Path, counts: tuple[int, int, int] = (6, 2, 2)) -> Path:
    """annotation.mat with cells in cells, as MATLAB writes them."""
    import numpy as np
    from scipy.io import savemat

    def cells(texts: list[str]) -> np.ndarray:
        array = np.empty((len(texts), 1), dtype=object)
        for i, text in enumerate(texts):
            inner = np.empty((1,), dtype=object)
            inner[0] = text
            array[i, 0] = inner
        return array

    matrices: dict[str, object] = {"attributes": cells(list(PA100K_ATTRIBUTES))}
    number = 1
    for split, count in zip(("train", "val", "test"), counts, strict=True):
        names = [f"{number + i:06d}.jpg" for i in range(count)]
        for name in names:
            save(folder / "data" / name, int(name[:6]))
        labels = [[(number + i + j) % 3 == 0 for j in range(len(PA100K_ATTRIBUTES))] for i in range(count)]
        matrices[f"{split}_images_name"] = cells(names)
        matrices[f"{split}_label"] = np.array(labels, dtype=np.uint8)
        number += count
    savemat(folder / "annotation.mat", matrices)
    return folder


def make_voc(folder: Path, year: int = 2007, nested: bool = True, test: bool = True) -> Path:
    """VOCdevkit/VOC<year>: objects marked difficult beside easy ones, and alone."""
    root = folder / "VOCdevkit" / f"VOC{year}" if nested else folder
    objects = {
        0: [("dog", 0, (1, 1, 25, 21)), ("person", 0, (4, 4, 8, 8)), ("dog", 1, (1, 1, 3, 3))],
        1: [("person", 0, (1, 1, 41, 33)), ("bottle", 1, (2, 2, 6, 12))],
        2: [("chair", 1, (1, 1, 9, 9))],
    }
    number = 1
    for split, count in (("train", 4), ("val", 3), ("test", 3)):
        names = []
        for i in range(count):
            name = f"{number:06d}" if year == 2007 else f"{year}_{number:06d}"
            names.append(name)
            number += 1
            if split == "test" and not test:
                continue
            save(root / "JPEGImages" / f"{name}.jpg", number)
            found = "".join(VOC_OBJECT.format(name=n, difficult=d, box=b) for n, d, b in objects[i % 3])
            path = root / "Annotations" / f"{name}.xml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(VOC_XML.format(name=name, width=48, height=40, objects=found))
        if split != "test" or test:
            _lines(root / "ImageSets" / "Main" / f"{split}.txt", names)
    _lines(root / "ImageSets" / "Main" / "dog_train.txt", ["000001  1", "000002 -1"])
    return folder


def make_tags(folder: Path) -> Path:
    """Images with a .txt beside each: commas, lines, an empty one, one image without."""
    texts = ["1girl, red hair, outdoors", "dog\nball\ngrass\n", "cat , sofa,cat", "", "tree,sky", "sky, sea, boat"]
    for i, text in enumerate(texts):
        save(folder / "set a" / f"photo {i}.png", i)
        (folder / "set a" / f"photo {i}.txt").write_text(text, encoding="utf-8")
    save(folder / "set a" / "untagged.png", 99)
    (folder / "readme.txt").write_text("about this set")
    return folder


def make_label_studio(folder: Path, minimal: bool = False) -> Path:
    """A JSON export: uploads with a prefix, local files, a cancelled and a missing annotation."""
    tasks: list[dict[str, object]] = []
    sets = [["cat", "outdoor"], ["dog"], [], ["cat", "dog"], ["outdoor"]]
    for i, choices in enumerate(sets):
        save(folder / "images" / f"pic {i}.jpg", i)
        image = f"/data/upload/7/1f2e3d4{i}-pic%20{i}.jpg" if i % 2 else f"/data/local-files/?d=images/pic%20{i}.jpg"
        if minimal:
            value = {"choices": choices} if len(choices) != 1 else choices[0]
            tasks.append(
                {"id": i, "image": image, "choice": value, "annotator": 1, "annotation_id": i, "lead_time": 2.5}
            )
            continue
        result = [{"type": "choices", "from_name": "tags", "to_name": "image", "value": {"choices": choices}}]
        boxes = {"type": "rectanglelabels", "from_name": "box", "value": {"rectanglelabels": ["ear"], "x": 1.0}}
        annotations = [
            {"id": 10 * i, "was_cancelled": True, "ground_truth": False, "result": []},
            {"id": 10 * i + 1, "was_cancelled": False, "ground_truth": False, "result": [boxes, *result]},
        ]
        tasks.append({"id": i, "data": {"image": image}, "annotations": annotations, "predictions": []})
    if not minimal:
        save(folder / "images" / "todo.jpg", 99)
        tasks.append({"id": 99, "data": {"image": "/data/upload/7/aaaaaaaa-todo.jpg"}, "annotations": []})
    (folder / "project-7-at-2024-05-01.json").write_text(json.dumps(tasks, indent=2))
    return folder


CVAT_HEAD = """<?xml version="1.0" encoding="utf-8"?>
<annotations>
  <version>1.1</version>
  <meta><task><id>3</id><name>tags</name><labels><label><name>cat</name><type>tag</type></label></labels></task></meta>
"""


def make_cvat(folder: Path, subsets: bool = False, tags: bool = True) -> Path:
    """annotations.xml "for images" with tags, a box and (optionally) subsets."""
    text = CVAT_HEAD
    names = [["cat"], ["cat", "indoor & warm"], [], ["dog"], ["dog", "cat"]]
    for i, labels in enumerate(names):
        save(folder / "images" / f"frame_{i:06d}.PNG", i)
        subset = f' subset="{("Train", "Train", "Validation", "Test", "Train")[i]}"' if subsets else ""
        text += f'  <image id="{i}" name="frame_{i:06d}.PNG"{subset} width="48" height="40">\n'
        for label in labels:
            text += f'    <tag label="{label.replace("&", "&amp;")}" source="manual"></tag>\n' if tags else ""
        text += '    <box label="nose" source="manual" occluded="0" xtl="1.0" ytl="2.0" xbr="9.0" ybr="9.0"></box>\n'
        text += "  </image>\n"
    (folder / "annotations.xml").write_text(text + "</annotations>\n", encoding="utf-8")
    return folder


def make_coco_export(folder: Path, splits: tuple[str, ...] = ()) -> Path:
    """COCO-style export with categories of whole images: one file, or one in each folder of a split."""
    for part in splits or ("",):
        images, annotations = [], []
        for i in range(5):
            number = i + 100 * len(part)
            save(folder / (part or "images") / f"{number}.jpg", number)
            images.append({"id": i, "file_name": f"{number}.jpg", "width": 48, "height": 40})
            if i < 4:
                annotations.append({"id": i, "image_id": i, "category_id": 3 + i % 2})
        whole = {
            "images": images,
            "categories": [{"id": 3, "name": "sunny"}, {"id": 4, "name": "rainy"}],
            "annotations": annotations,
        }
        path = folder / part / "_annotations.coco.json" if part else folder / "annotations" / "instances_default.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(whole))
    return folder


def make_hf_disk(folder: Path, embedded: bool = True, class_labels: bool = True) -> Path:
    """What `DatasetDict.save_to_disk` writes: Arrow streams, state.json, dataset_info.json."""
    import pyarrow as pa

    (folder / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "validation"]}))
    names = ["ant", "bee", "cow"]
    for part, count in (("train", 5), ("validation", 2)):
        images, labels = [], []
        for i in range(count):
            number = i + len(part)
            memory = io.BytesIO()
            picture(number).save(memory, "PNG")
            if not embedded:
                save(folder / part / f"{number}.png", number)
            images.append({"bytes": memory.getvalue() if embedded else None, "path": f"{number}.png"})
            labels.append([k for k in range(3) if (i + 1) >> k & 1])
        column = labels if class_labels else [[names[k] for k in row] for row in labels]
        kind = pa.list_(pa.int64() if class_labels else pa.string())
        table = pa.table(
            {
                "image": pa.array(images, pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
                "labels": pa.array(column, kind),
            }
        )
        (folder / part).mkdir(exist_ok=True)
        with pa.OSFile(str(folder / part / "data-00000-of-00001.arrow"), "wb") as sink:
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table, max_chunksize=2)
        feature = {"names": names, "_type": "ClassLabel"} if class_labels else {"dtype": "string", "_type": "Value"}
        features = {"image": {"_type": "Image"}, "labels": {"feature": feature, "_type": "Sequence"}}
        (folder / part / "dataset_info.json").write_text(json.dumps({"description": "", "features": features}))
        files = [{"filename": "data-00000-of-00001.arrow"}]
        (folder / part / "state.json").write_text(json.dumps({"_data_files": files, "_split": None}))
    return folder


# Format -> builder, for tests that go through every format.
BUILDERS = {
    "folder": make_folder,
    "coco": make_coco,
    "nus-wide": make_nus_wide,
    "wider": make_wider,
    "pa100k": make_pa100k,
    "voc": make_voc,
    "tags": make_tags,
    "label-studio": make_label_studio,
    "cvat": make_cvat,
    "coco-export": make_coco_export,
    "hf-disk": make_hf_disk,
}
