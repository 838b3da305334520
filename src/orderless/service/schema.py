"""What the service answers, as it stands in `/openapi.json`."""

from __future__ import annotations

from pydantic import BaseModel, Field

from orderless.results import Result

_DIGITS = 6


class TagOut(BaseModel):
    """One label of an image."""

    label: str
    score: float = Field(description="In [0, 1].")
    attention: list[list[float]] | None = Field(
        None, description="Where the model looked: rows from the top, each from the left; all sum to one."
    )


class ConsideredOut(BaseModel):
    """A label that was not written, or (null) the end."""

    label: str | None
    probability: float


class StepOut(BaseModel):
    """One step of the decoder: the label that it wrote, or (null) the end, and what else it considered."""

    label: str | None
    probability: float
    runners_up: list[ConsideredOut]


class ImageOut(BaseModel):
    """One image: its tags in the order the model wrote them, or an error."""

    name: str
    tags: list[TagOut] = []
    steps: list[StepOut] | None = Field(None, description="Empty for a model that writes no sequence.")
    error: str | None = None


class TagsOut(BaseModel):
    """One entry for every image of the request, in its order."""

    model: str
    images: list[ImageOut]


class LabelOut(BaseModel):
    name: str
    frequency: int = Field(description="How often it stands in the training split.")
    group: str | None = None


class LabelsOut(BaseModel):
    model: str
    labels: list[LabelOut]


class ModelOut(BaseModel):
    name: str
    kind: str = Field(description="`run` (a run folder, PyTorch) or `onnx` (an exported file).")
    labels: int
    image_size: int


class LimitsOut(BaseModel):
    max_images: int
    max_upload_mb: float
    max_pixels: int
    formats: list[str]


class ModelsOut(BaseModel):
    """What is served; the first model answers when a request names none."""

    version: str
    models: list[ModelOut]
    limits: LimitsOut


class StatusOut(BaseModel):
    status: str


def image_out(name: str, result: Result, *, attention: bool, steps: bool) -> ImageOut:
    """A tagger's result as an answer."""
    tags = []
    for tag in result.tags:
        region = tag.region if attention else None
        grid = None if region is None else [[round(float(cell), _DIGITS) for cell in row] for row in region]
        tags.append(TagOut(label=tag.label, score=round(tag.score, _DIGITS), attention=grid))
    return ImageOut(name=name, tags=tags, steps=_steps(result) if steps else None)


def _steps(result: Result) -> list[StepOut]:
    return [
        StepOut(
            label=step.label,
            probability=round(step.probability, _DIGITS),
            runners_up=[ConsideredOut(label=label, probability=round(p, _DIGITS)) for label, p in step.runners_up],
        )
        for step in result.steps
    ]
