"""Print the lowest versions that pyproject.toml allows, as constraints for pip; PyTorch stays as it is pinned."""

from __future__ import annotations

import re
from pathlib import Path

text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
needed = text.partition("dependencies = [")[2].partition("]")[0]  # what everybody gets; extras are newer than this
for name, version in re.findall(r'"([A-Za-z][\w.-]*)>=([0-9.]+)"', needed):
    if name not in ("torch", "torchvision"):
        print(f"{name}=={version}")
