"""Resizing and normalising against torchvision's own, to the rounding of a byte."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import orderless.torchvision_ops  # noqa: F401  must come before torchvision

import numpy as np  # isort: skip
import pytest
import torch
from PIL import Image
from torchvision.transforms import v2

from orderless.data import resizing, transforms
from orderless.data.dataset import BatchMemory, ImageDataset, make_loader
from orderless.data.sample import Sample
from orderless.data.transforms import Preprocessing

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@pytest.fixture
def image() -> Image.Image:
    coarse = np.random.default_rng(0).integers(0, 256, (9, 12, 3), dtype=np.uint8)
    return Image.fromarray(coarse).resize((160, 120), Image.Resampling.BICUBIC)


def without_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transforms, "native", None)
    monkeypatch.setattr(resizing, "_pixels", None)
    monkeypatch.setattr(resizing, "_resize", None)


@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic", "lanczos"])
@pytest.mark.parametrize("size", [32, 96, 224])
def test_as_torchvision_does_it(image: Image.Image, interpolation: str, size: int) -> None:
    ours = Preprocessing(size, MEAN, STD, interpolation).test_transform()(image)
    mode = v2.InterpolationMode(interpolation)
    steps = [v2.Resize((size, size), mode, antialias=True), v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True)]
    theirs = v2.Compose([*steps, v2.Normalize(list(MEAN), list(STD))])(image)
    levels = (ours - theirs).abs() * 255 * torch.tensor(STD).view(3, 1, 1)
    assert ours.shape == (3, size, size)
    assert levels.max() < 2.01
    assert levels.mean() < 0.1


@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic", "lanczos"])
@pytest.mark.parametrize(("width", "height"), [(1, 1), (33, 64), (64, 64), (161, 97), (3001, 1500)])
def test_the_same_numbers_with_and_without_c(
    monkeypatch: pytest.MonkeyPatch, width: int, height: int, interpolation: str
) -> None:
    """The largest lies in several pieces of Pillow's memory."""
    if transforms.native is None:
        pytest.skip("no C compiler when this was installed")
    noise = np.random.default_rng(width).integers(0, 256, (height, width, 3), dtype=np.uint8)
    image = Image.fromarray(noise)
    compiled = Preprocessing(64, MEAN, STD, interpolation).test_transform()(image)
    without_c(monkeypatch)
    plain = Preprocessing(64, MEAN, STD, interpolation).test_transform()(image)
    assert torch.equal(compiled, plain)
    assert np.array_equal(np.asarray(image), noise)  # its memory was lent, not given away


def test_padded_lines_are_not_lent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow 11 and 12 lend them as if they lay side by side."""
    before = Image.core.get_alignment()  # type: ignore[attr-defined]
    Image.core.set_alignment(64)  # type: ignore[attr-defined]
    try:
        noise = np.random.default_rng(0).integers(0, 256, (50, 33, 3), dtype=np.uint8)
        padded = Preprocessing(32, MEAN, STD, "bicubic").test_transform()(Image.fromarray(noise))
        without_c(monkeypatch)
        assert torch.equal(padded, Preprocessing(32, MEAN, STD, "bicubic").test_transform()(Image.fromarray(noise)))
    finally:
        Image.core.set_alignment(before)  # type: ignore[attr-defined]


def test_only_four_bytes_a_pixel_are_lent() -> None:
    if transforms.native is None:
        pytest.skip("no C compiler when this was installed")
    _, grey = Image.new("L", (4, 3)).__arrow_c_array__()
    _, colours = Image.new("RGB", (4, 3)).__arrow_c_array__()
    with pytest.raises(ValueError, match="four bytes"):
        transforms.native.memory(grey, 12)
    with pytest.raises(ValueError, match="four bytes"):
        transforms.native.memory(colours, 13)
    with pytest.raises(ValueError, match="PyCapsule"):
        transforms.native.memory(object(), 12)


def test_only_arrays_that_fit_are_normalised() -> None:
    if transforms.native is None:
        pytest.skip("no C compiler when this was installed")
    pixels, place, row = np.zeros((4, 5, 3), np.uint8), np.zeros((4, 15), np.float32), np.ones(15, np.float32)
    transforms.native.normalise(pixels + 2, place, row, row)
    assert (place == 1).all()
    for wrong in (
        (pixels[:3], place, row, row),
        (pixels[:, :4], place, row, row),
        (pixels[..., :2], place, row, row),
        (pixels, place.astype(np.float64), row, row),
        (pixels, place.T, row, row),
        (pixels, place, row[:3], row),
        (pixels, place, row, row.astype(np.int32)),
    ):
        with pytest.raises(ValueError, match=r"arrays of other|contiguous"):
            transforms.native.normalise(*wrong)
    place.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        transforms.native.normalise(pixels, place, row, row)


def test_a_batch_that_somebody_holds_is_not_written_over(image: Image.Image, tmp_path: Path) -> None:
    for number in range(6):
        image.rotate(30 * number).save(tmp_path / f"{number}.png")
    samples = [Sample(tmp_path / f"{number}.png", ()) for number in range(6)]
    transform = Preprocessing(48, MEAN, STD).test_transform()
    loader = make_loader(ImageDataset(samples, transform, 48), 1, shuffle=False)
    kept = [batch.inputs[0, 0] for batch in loader]  # of each batch, a part
    for part, sample in zip(kept, samples, strict=True):
        assert torch.equal(part, transform(sample.load())[0])
    places = {batch.inputs.data_ptr() for batch in loader}
    assert len(places) < 6  # without anybody holding them


def test_augmentation_follows_the_seed(image: Image.Image) -> None:
    transform = Preprocessing(64, MEAN, STD).train_transform()

    def augmented(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return transform(image)

    assert augmented(1).shape == (3, 64, 64)
    assert torch.equal(augmented(1), augmented(1))
    assert not torch.equal(augmented(1), augmented(2))


def test_batches_lie_in_memory_as_the_encoder_wants_them(image: Image.Image, tmp_path: Path) -> None:
    preprocessing = Preprocessing(48, MEAN, STD)
    image.save(tmp_path / "good.png")
    image.rotate(90).save(tmp_path / "turned.png")
    (tmp_path / "broken.png").write_bytes(b"no image")
    samples = [Sample(tmp_path / f"{name}.png", ()) for name in ("good", "broken", "turned", "missing")]
    dataset = ImageDataset(samples, preprocessing.test_transform(), 48)
    (batch,) = make_loader(dataset, 4, shuffle=False)
    assert batch.inputs.shape == (2, 3, 48, 48)
    assert batch.inputs.is_contiguous(memory_format=torch.channels_last)
    assert batch.rows == [0, 2]
    assert [index for index, _ in batch.unreadable] == [1, 3]
    assert torch.equal(batch.inputs[0], preprocessing.test_transform()(image))
    assert torch.equal(batch.inputs[1], preprocessing.test_transform()(image.rotate(90)))
    (nothing,) = make_loader(ImageDataset(samples[1:2], preprocessing.test_transform(), 48), 4, shuffle=False)
    assert nothing.inputs.shape == (0, 3, 48, 48)


def test_memory_of_batches_is_not_given_to_two_threads() -> None:
    memory, wrong = BatchMemory(), []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work(number: int) -> None:
        for _ in range(2_000):
            own = memory.take(1, 2)
            own[:] = number
            wrong.extend([number] * bool((own != number).any()))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not wrong
