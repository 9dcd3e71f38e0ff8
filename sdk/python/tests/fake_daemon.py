"""A scripted daemon, and the shared frames."""

from __future__ import annotations

import json
import os
import shutil
import socket
import struct
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

FRAMES: dict[str, Any] = json.loads(
    Path(os.environ.get("CASTELLAN_FRAMES") or Path(__file__).parents[2] / "frames.json").read_text(encoding="utf-8")
)
"""`sdk/frames.json`: the Rust tests compare it with the real protocol."""

Play = Callable[[socket.socket, bytes], None]
"""The daemon's part of a connection, once it has read the first bytes of a request. Then the connection is closed."""


def frame(kind: int, body: bytes) -> bytes:
    return b"CSTL" + struct.pack("<HHI", 1, kind, len(body)) + body


def reply(code: int, stdout: str = "", stderr: str = "") -> bytes:
    fields = [struct.pack("<I", len(text.encode())) + text.encode() for text in (stdout, stderr)]
    return frame(2, bytes([code]) + b"".join(fields))


def hold(ms: int) -> bytes:
    return frame(3, struct.pack("<I", ms))


def says(code: int, stdout: str = "", stderr: str = "") -> Play:
    return sends(reply(code, stdout, stderr))


def sends(content: bytes) -> Play:
    return lambda connection, _request: connection.sendall(content)


def waits(content: bytes = b"") -> Play:
    """Sends `content` and waits until the other end closes the connection."""

    def play(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(content)
        while connection.recv(65536):
            pass

    return play


@contextmanager
def daemon(play: Play | None) -> Iterator[Path]:
    """Gives the home of a daemon that does `play`; without `play` nobody listens."""
    home = Path(tempfile.mkdtemp(prefix="castellan-test-"))
    (home / "run").mkdir(mode=0o700)
    server = socket.socket(socket.AF_UNIX)
    thread = threading.Thread(target=_serve, args=(server, play))
    if play is not None:
        server.bind(str(home / "run/hook.sock"))
        server.listen()
        thread.start()
    try:
        yield home
    finally:
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        if play is not None:
            thread.join()
        shutil.rmtree(home)


def _serve(server: socket.socket, play: Play | None) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection, suppress(OSError):
            request = connection.recv(65536)
            if play is not None and request:
                play(connection, request)
