"""MS-COCO at its true size opens well under a gigabyte."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from data.fixtures import make_coco, save

IMAGES, OBJECTS = 82_783, 604_907

MEASURE = """
import re, sys
from pathlib import Path
from orderless.data import open_data
found = open_data(sys.argv[1], val_share=0)
# Not getrusage: its peak is inherited from the process that started this one.
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024
print(peak, len(found["train"]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from Linux's /proc")
def test_the_training_file_of_2014(tmp_path: Path) -> None:
    make_coco(tmp_path)
    dice = random.Random(0)
    identities = dice.sample(range(600_000), IMAGES)
    path = tmp_path / "annotations" / "instances_train2014.json"
    categories = json.loads(path.read_text())["categories"]
    with path.open("w") as file:
        images = (
            {"license": 1, "file_name": f"COCO_train2014_{i:012d}.jpg", "height": 480, "width": 640, "id": i}
            for i in identities
        )
        file.write('{"images": [' + ", ".join(json.dumps(image) for image in images) + '], "annotations": [')
        outline = json.dumps([[round(dice.random() * 640, 2) for _ in range(50)]])
        for k in range(OBJECTS):
            image = identities[k % 82_081]
            file.write(
                f'{", " if k else ""}{{"segmentation": {outline}, "area": 702.1, "iscrowd": 0, "image_id": {image}, '
                f'"bbox": [473.07, 395.93, 38.65, 28.67], "category_id": {categories[k % 4]["id"]}, "id": {k}}}'
            )
        file.write('], "categories": ' + json.dumps(categories) + "}")
    save(tmp_path / "train2014" / f"COCO_train2014_{identities[0]:012d}.jpg", 1)
    done = subprocess.run([sys.executable, "-c", MEASURE, str(tmp_path)], capture_output=True, text=True, check=True)
    megabytes, count = (float(value) for value in done.stdout.split())
    assert count == 82_081
    assert megabytes < 500
