"""A small Hugging Face Hub on this machine: the handful of requests that huggingface_hub makes to push and to pull."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

SHA = "a" * 40
TOKEN = "hf_" + "x" * 34


class Hub(ThreadingHTTPServer):
    """Repositories as dictionaries of files."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.private: dict[str, bool] = {}
        self.large: dict[str, bytes] = {}  # by SHA-256, as Git LFS keeps them
        self.requests: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = self._body()
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self._json(401, {"error": "Invalid credentials"})
        if self.path == "/api/repos/create":
            wanted = json.loads(body)
            name = f"{wanted.get('organization') or 'me'}/{wanted['name']}"
            self.server.private[name] = wanted.get("visibility") == "private" or bool(wanted.get("private"))
            if name in self.server.repositories:
                return self._json(409, {"error": "exists", "url": f"{self.server.address}/{name}"})
            self.server.repositories[name] = {}
            return self._json(200, {"url": f"{self.server.address}/{name}", "id": name})
        if self.path == "/api/validate-yaml":
            assert json.loads(body)["content"].startswith("---\n")
            return self._json(200, {"errors": [], "warnings": []})
        if self.path.startswith("/api/models/") and "/preupload/" in self.path:
            files = json.loads(body)["files"]
            mode = {True: "lfs", False: "regular"}
            kinds = [
                {"path": file["path"], "uploadMode": mode[file["path"].endswith(".safetensors")], "shouldIgnore": False}
                for file in files
            ]
            return self._json(200, {"files": kinds})
        if self.path.endswith("/info/lfs/objects/batch"):
            objects = [
                {
                    "oid": wanted["oid"],
                    "size": wanted["size"],
                    "actions": {"upload": {"href": f"{self.server.address}/lfs/{wanted['oid']}"}},
                }
                for wanted in json.loads(body)["objects"]
            ]
            return self._json(200, {"transfer": "basic", "objects": objects})
        if self.path.startswith("/api/models/") and "/commit/" in self.path:
            return self._commit(self.path.split("/commit/")[0].removeprefix("/api/models/"), body)
        return self._json(404, {"error": f"no {self.path}"})

    def do_PUT(self) -> None:
        body = self._body()
        self.server.large[hashlib.sha256(body).hexdigest()] = body
        self._send(200, b"", {})

    def do_GET(self) -> None:
        self.server.requests.append(f"{self.command} {self.path}")
        path = unquote(urlsplit(self.path).path)
        if path == "/api/whoami-v2":
            return self._json(200, {"name": "me", "type": "user", "orgs": []})
        if path.startswith("/api/models/"):
            name, _, rest = path.removeprefix("/api/models/").partition("/revision/")
            name, _, tree = name.partition("/tree/")
            if name not in self.server.repositories:
                return self._json(404, {"error": "not found"}, {"X-Error-Code": "RepoNotFound"})
            if rest and rest not in ("main", SHA):
                return self._json(404, {"error": "no revision"}, {"X-Error-Code": "RevisionNotFound"})
            files = self.server.repositories[name]
            if tree:
                entries = [
                    {"type": "file", "path": file, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
                    for file, data in files.items()
                ]
                return self._json(200, entries)
            siblings = [{"rfilename": file} for file in files]
            return self._json(200, {"id": name, "modelId": name, "sha": SHA, "siblings": siblings, "private": False})
        name, _, file = path.removeprefix("/").partition("/resolve/")
        file = file.partition("/")[2]
        data = self.server.repositories.get(name, {}).get(file)
        if data is None:
            return self._json(404, {"error": "no entry"}, {"X-Error-Code": "EntryNotFound"})
        headers = {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X-Repo-Commit": SHA, "Accept-Ranges": "bytes"}
        return self._send(200, data, headers)

    do_HEAD = do_GET

    def _commit(self, name: str, body: bytes) -> None:
        files = self.server.repositories[name]
        for line in body.splitlines():
            entry: dict[str, Any] = json.loads(line)
            value = entry["value"]
            if entry["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif entry["key"] == "lfsFile":
                files[value["path"]] = self.server.large[value["oid"]]
        url = f"{self.server.address}/{name}/commit/{SHA}"
        self._json(200, {"success": True, "commitOid": SHA, "commitUrl": url, "hookOutput": "", "pullRequestUrl": None})

    def _body(self) -> bytes:
        self.server.requests.append(f"{self.command} {self.path}")
        if self.headers.get("Transfer-Encoding") == "chunked":
            pieces = []
            while size := int(self.rfile.readline(), 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _json(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})

    def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


@contextmanager
def fake_hub() -> Iterator[Hub]:
    hub = Hub()
    thread = threading.Thread(target=hub.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
