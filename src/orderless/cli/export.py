"""`orderless export`: a run as one ONNX file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from orderless.export.file import Exported


def export_command(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    to: Annotated[Path, typer.Option(help="File to write.")] = Path("model.onnx"),
    int8: Annotated[bool, typer.Option("--int8", help="Round the encoder to 8 bits; says what that costs.")] = False,
    opset: Annotated[int, typer.Option(help="Version of ONNX's operators, 18 to 23.")] = 20,
) -> None:  # fmt: skip
    """Write a run as one ONNX file that needs no PyTorch, checked against the run on photos."""
    from orderless.export.file import export_run

    print(_in_words(export_run(run, to, int8=int8, opset=opset)))


def _in_words(exported: Exported) -> str:
    agreement, cost = exported.agreement, exported.cost
    lines = [f"{exported.path}: {exported.size / 1e6:.1f} MB"]
    if cost is None:
        lines.append(
            f"checked on {agreement.photos} {exported.photos}: the same tags in the same order, "
            f"largest difference of a score {agreement.largest_difference:.1e}"
        )
        return "\n".join(lines)
    lines.append(
        f"checked on {agreement.photos} {exported.photos}: {agreement.same_tags} with the same tags in the same order, "
        f"{100 * agreement.same_decisions:.2f}% of all labels decided alike"
    )
    if cost.f1:
        before_after = ", ".join(f"{name} {100 * a:.2f} → {100 * b:.2f}" for name, (a, b) in cost.f1.items())
        lines.append(f"int8 on {cost.photos} validation photos: {before_after}")
    lines.append(f"int8: {cost.size:.2f} of the size, {cost.speed:.2f} times as fast, one photo at a time")
    return "\n".join(lines)
