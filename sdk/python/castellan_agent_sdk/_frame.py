"""The frames between this package and the daemon's hook socket, as `crates/wire` defines them. It must not know events
or verdicts.

A frame is `CSTL`, a version, a kind, a length (little endian) and a body. A field is a length and its bytes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from ._limits import REPLY_BYTES_MAX

_HEADER: Final = struct.Struct("<4sHHI")
_U32: Final = struct.Struct("<I")
_MAGIC: Final = b"CSTL"
_VERSION: Final = 1
_REQUEST: Final = 1
_REPLY: Final = 2
_HOLD: Final = 3


class ProtocolError(Exception):
    """Bytes that are no frame, or not the expected one."""


@dataclass(frozen=True)
class Reply:
    """The output and exit code that the daemon gives a hook."""

    exit: int
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True)
class Hold:
    """The daemon waits for a person, for this many milliseconds at most."""

    ms: int


@dataclass(frozen=True)
class Request:
    """The message of a hook. The daemon takes a sender with the id `parent_pid` for the agent itself."""

    agent: str
    event: str
    parent_pid: int
    cwd: bytes
    payload: bytes

    def encode(self) -> bytes:
        """Returns the frame."""
        fields = [_field(self.agent.encode()), _field(self.event.encode()), _U32.pack(self.parent_pid)]
        body = b"".join([*fields, _field(self.cwd), _field(self.payload)])
        return _HEADER.pack(_MAGIC, _VERSION, _REQUEST, len(body)) + body


class FrameReader:
    """Puts frames together from pieces of a stream."""

    def __init__(self) -> None:
        self._pending = b""

    def push(self, piece: bytes) -> list[Reply | Hold]:
        """Adds a piece and returns the frames that are now whole. Raises `ProtocolError`; read no further then."""
        self._pending += piece
        frames: list[Reply | Hold] = []
        while (frame := self._take()) is not None:
            frames.append(frame)
        return frames

    def _take(self) -> Reply | Hold | None:
        start = self._pending[: len(_MAGIC)]
        if start != _MAGIC[: len(start)]:
            raise ProtocolError("no frame of castellan")
        if len(self._pending) < _HEADER.size:
            return None
        _, version, kind, size = _HEADER.unpack_from(self._pending)
        if version != _VERSION:
            raise ProtocolError("another version of the protocol")
        # Checked before the body arrives, so that no announcement makes this process store more.
        if size > REPLY_BYTES_MAX:
            raise ProtocolError("a frame that is too long")
        end = _HEADER.size + size
        if len(self._pending) < end:
            return None
        body, self._pending = self._pending[_HEADER.size : end], self._pending[end:]
        return _decode(kind, body)


def _decode(kind: int, body: bytes) -> Reply | Hold:
    if kind == _REPLY:
        if not body:
            raise ProtocolError("a body that ends too early")
        stdout, rest = _take_field(body[1:])
        stderr, rest = _take_field(rest)
        if rest:
            raise ProtocolError("a body with bytes at its end")
        return Reply(body[0], stdout, stderr)
    if kind == _HOLD:
        if len(body) != _U32.size:
            raise ProtocolError("a hold of another size")
        return Hold(_U32.unpack(body)[0])
    raise ProtocolError(f"a frame of the kind {kind}")


def _take_field(body: bytes) -> tuple[bytes, bytes]:
    if len(body) < _U32.size:
        raise ProtocolError("a body that ends too early")
    end = _U32.size + _U32.unpack_from(body)[0]
    if len(body) < end:
        raise ProtocolError("a body that ends too early")
    return body[_U32.size : end], body[end:]


def _field(content: bytes) -> bytes:
    return _U32.pack(len(content)) + content
