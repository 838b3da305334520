"""The Dockerfile, piece by piece, as no Docker engine is needed for that: what it copies, installs and starts."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import time
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

pytestmark = pytest.mark.skipif(not (ROOT / "Dockerfile").is_file(), reason="not a source checkout")


def instructions() -> list[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_what_is_copied_is_there_and_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    for word, arguments in instructions():
        if word != "COPY" or arguments.startswith("--from"):
            continue
        for source in shlex.split(arguments)[:-1]:
            assert (ROOT / source).exists(), source
            assert source.split("/")[0] not in ignored


def test_requirements_are_pinned_and_without_torch() -> None:
    pinned = {canonical(line.partition("==")[0]) for line in (ROOT / "constraints.txt").read_text().splitlines()}
    lines = (ROOT / "docker" / "requirements.txt").read_text().splitlines()
    wanted = {canonical(line) for line in lines if line and not line.startswith("#")}
    assert wanted <= pinned
    assert not wanted & {"torch", "torchvision", "timm", "lightning", "onnx", "onnxscript"}


def test_it_starts_as_nobody_in_particular() -> None:
    words = [word for word, _ in instructions()]
    last_stage = instructions()[len(words) - 1 - words[::-1].index("FROM") :]
    settings = dict(last_stage)
    assert settings["USER"] not in ("root", "0")
    assert [word for word, _ in last_stage].index("USER") > max(i for i, (w, _) in enumerate(last_stage) if w == "RUN")
    assert json.loads(settings["CMD"]) == ["orderless", "serve", "/model/model.onnx", "--host", "0.0.0.0"]
    check = json.loads(settings["HEALTHCHECK"].partition("CMD ")[2])
    assert check[:2] == ["python", "-c"]
    compile(check[2], "HEALTHCHECK", "exec")
    assert f"'127.0.0.1', {settings['EXPOSE']}," in check[2]
    assert "'/healthz'" in check[2]


@pytest.mark.slow
def test_the_service_runs_on_these_requirements_alone(exported: tuple[Path, Path], tmp_path: Path) -> None:
    """The image's own commands, in a virtual environment instead of a container."""
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    source = tmp_path / "source"
    source.mkdir()
    for word, arguments in instructions():
        *sources, target = shlex.split(arguments) if word == "COPY" else [""]
        if target.startswith("/source"):
            for name in sources:
                place = source / target.removeprefix("/source").lstrip("/")
                if (ROOT / name).is_dir():
                    shutil.copytree(
                        ROOT / name, place, ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info")
                    )
                else:
                    shutil.copy(ROOT / name, place)
    pip = [python, "-m", "pip", "install", "--quiet"]
    requirements = ["--constraint", ROOT / "constraints.txt", "--requirement", ROOT / "docker" / "requirements.txt"]
    subprocess.run([*pip, *requirements], check=True)
    subprocess.run([*pip, "--no-deps", source], check=True)
    settings = dict(instructions())
    command = [word.replace("/model/model.onnx", str(exported[1])) for word in json.loads(settings["CMD"])]
    port = free_port()
    command = [str(environment / "bin" / command[0]), *command[1:], "--port", str(port)]
    child = {**os.environ, "ORDERLESS_TOKEN": "a-token-for-this-test", "PYTHONDONTWRITEBYTECODE": "1"}
    refused = subprocess.run(command, env={**child, "ORDERLESS_TOKEN": ""}, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "token" in refused.stderr
    service = subprocess.Popen(command, env=child)
    try:
        check = json.loads(settings["HEALTHCHECK"].partition("CMD ")[2])[2].replace(" 8000,", f" {port},")
        for _ in range(120):
            healthy = subprocess.run([python, "-c", check], capture_output=True).returncode == 0
            if healthy or service.poll() is not None:
                break
            time.sleep(0.5)
        assert healthy
    finally:
        service.terminate()
        service.wait(30)
    code = "import importlib.util as u; assert not u.find_spec('torch')"
    subprocess.run([python, "-c", code], check=True)
