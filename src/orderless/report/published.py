"""The numbers that the paper prints, by data format and table; they stand beside ours, marked as published.

Yazici, Gonzalez-Garcia, Ramisa, Twardowski, van de Weijer: Orderless Recurrent Models for Multi-label Classification,
CVPR 2020, tables 1 to 7. Percent; None where the paper has a dash. In table 3 the paper swaps the rows of PLA and
MLA: PLA is the faster alignment, as its text says, and stands so here. In table 2 it marks attention only in its last
row, while its text says that all rows but BCE have it; the rows keep the names of the table.
"""

from __future__ import annotations

Row = tuple[str, tuple[float | None, ...]]

SETS = ("CP", "CR", "CF1", "OP", "OR", "OF1")
EXAMPLES = ("example-precision", "example-recall", "example-F1", "example-accuracy")

# The data that the paper tells of: labels, and images that were judged (COCO's are counted with or without those
# that hold no label). On other data its numbers would compare nothing.
LABELS_AND_IMAGES = {"coco": (80, 40_000), "nus-wide": (81, 50_000), "wider": (14, 25_000), "pa100k": (26, 9_500)}

ORDERS: dict[str, tuple[Row, ...]] = {  # table 1: duplicate-rate, order-rigidness
    "coco": (
        ("Random order", (57.86, 67.00)),
        ("Frequent first", (23.84, 100.00)),
        ("Rare first", (29.61, 100.00)),
        ("Dictionary order", (32.90, 100.00)),
        ("MLA", (0.10, 82.87)),
        ("PLA", (0.04, 80.25)),
    ),
}

RESULTS: dict[str, tuple[Row, ...]] = {  # table 2: SETS
    "coco": (
        ("BCE", (68.05, 59.15, 63.29, 72.20, 65.77, 68.84)),
        ("Frequent first", (70.27, 56.49, 62.63, 72.15, 64.53, 68.13)),
        ("Rare first", (65.68, 61.32, 63.43, 70.82, 64.73, 67.64)),
        ("Dictionary order", (70.98, 55.86, 62.52, 74.14, 62.35, 67.74)),
        ("MLA", (68.37, 60.39, 64.13, 72.16, 66.71, 69.33)),
        ("PLA", (68.66, 60.54, 64.34, 72.67, 66.89, 69.66)),
        ("PLA (atten.)", (70.18, 61.96, 65.81, 73.75, 67.74, 70.62)),
    ),
}

TIMES: dict[str, tuple[Row, ...]] = {  # table 3: forward, alignment, backward, test, in ms
    "coco": (
        ("Fixed order, ResNet-101", (6.50, 0.00, 14.80, 5.90)),
        ("MLA, ResNet-101", (6.50, 0.80, 14.80, 5.90)),
        ("PLA, ResNet-101", (6.50, 0.25, 14.80, 5.90)),
    ),
}

DATA_SETS: dict[str, tuple[Row, ...]] = {  # tables 4 to 7: SETS, for PA-100K EXAMPLES
    "coco": (
        ("CNN-RNN, VGG16", (66.00, 55.60, 60.40, 69.20, 66.40, 67.80)),
        ("Chen et al. (order-free), ResNet-152", (71.60, 54.80, 62.10, 74.20, 62.20, 67.70)),
        ("SR-CNN-RNN, VGG16", (67.40, 59.83, 63.39, 76.63, 68.73, 72.47)),
        ("Chen et al. (recurrent attention), VGG16", (78.80, 57.20, 66.20, 84.00, 61.60, 71.10)),
        ("Li et al. (attentive), VGG16", (71.90, 59.60, 65.20, 74.30, 69.70, 71.80)),
        ("MS-CNN+LQP, ResNet-101", (67.48, 60.93, 64.04, 70.22, 67.93, 69.06)),
        ("LSEP, VGG16", (73.50, 56.40, 63.82, 76.30, 61.80, 68.29)),
        ("MLIC-KD-WSD, VGG16", (None, None, 69.20, None, None, 74.00)),
        ("SRN, ResNet-101", (81.60, 65.40, 71.20, 82.70, 69.90, 75.80)),
        ("ACfs, ResNet-101", (77.40, 68.30, 72.20, 79.80, 73.10, 76.30)),
        ("PLA, VGG16", (73.72, 63.18, 68.05, 78.25, 68.76, 73.20)),
        ("PLA, ResNet-101", (80.38, 68.85, 74.17, 81.46, 73.26, 77.14)),
        ("PLA, ResNet-152", (75.32, 69.62, 72.36, 76.85, 73.97, 75.38)),
    ),
    "nus-wide": (
        ("CNN-RNN", (40.50, 30.40, 34.70, 49.90, 61.70, 55.20)),
        ("Chen et al. (order-free)", (59.40, 50.70, 54.70, 69.00, 71.40, 70.20)),
        ("SR-CNN-RNN", (55.65, 50.17, 52.77, 70.57, 71.35, 70.96)),
        ("Li et al. (attentive)", (44.20, 49.30, 46.60, 53.90, 68.70, 60.40)),
        ("LSEP", (66.70, 45.90, 54.38, 76.80, 65.70, 70.82)),
        ("MLIC-KD-WSD", (None, None, 58.70, None, None, 73.70)),
        ("PLA", (60.67, 52.40, 56.23, 71.96, 72.79, 72.37)),
    ),
    "wider": (
        ("SRN", (None, None, 75.90, None, None, 81.30)),
        ("ACfs", (81.30, 74.80, 77.60, 84.10, 80.70, 82.40)),
        ("PLA", (81.69, 75.87, 78.67, 84.99, 81.36, 83.13)),
    ),
    "pa100k": (
        ("DM", (82.24, 80.42, 81.32, 70.39)),
        ("HP-Net", (82.97, 82.09, 82.53, 72.19)),
        ("ACfs", (88.97, 86.26, 87.59, 79.44)),
        ("PLA", (88.50, 86.67, 87.58, 79.83)),
    ),
}
