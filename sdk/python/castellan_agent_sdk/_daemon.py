"""One question to the daemon: connects, starts the daemon if none listens, sends a frame and waits for the reply."""

from __future__ import annotations

import errno
import subprocess
import time
from pathlib import Path

import anyio
from anyio.abc import ByteStream

from ._failure import Failure
from ._frame import FrameReader, Hold, ProtocolError, Reply, Request
from ._home import Home
from ._limits import HELD_S, HOLD_S_MAX, PAYLOAD_BYTES_MAX, RESTART_S, START_S, TRY_AGAIN_S
from ._start import DAEMON_ALREADY_RUNS, start_daemon


class Daemon:
    """The daemon of a home."""

    def __init__(self, home: Home, program: Path | None) -> None:
        """`program` starts the daemon; without it this program never starts one."""
        self.home = home
        self._program = program
        self._started: list[subprocess.Popen[bytes]] = []

    async def ask(self, request: Request, seconds: float) -> Reply:
        """Asks about an event. Raises `Failure` if there is no valid reply after that time."""
        if len(request.payload) > PAYLOAD_BYTES_MAX:
            raise Failure("input")
        with anyio.move_on_after(seconds) as limit:
            async with await self._connect() as stream:
                return await _exchange(stream, request, limit)
        raise Failure("deadline")

    async def _connect(self) -> ByteStream:
        self.home.check_private()
        stream = await self._try_connect()
        if stream is not None:
            return stream
        if self.home.is_stopped:
            raise Failure("stopped")
        if self._program is None:
            raise Failure("not_started")
        return await self._start(self._program)

    async def _start(self, program: Path) -> ByteStream:
        """Starts a daemon and connects to it. Of several that are started at once, all but one end by themselves."""
        until = time.monotonic() + START_S
        daemon, started_at = self._spawn(program), time.monotonic()
        held_since: float | None = None
        while time.monotonic() < until:
            await anyio.sleep(TRY_AGAIN_S)
            stream = await self._try_connect()
            code = daemon.poll()
            if stream is not None:
                return stream
            if code is not None and code != DAEMON_ALREADY_RUNS:
                raise Failure("not_started")
            if code == DAEMON_ALREADY_RUNS:
                # Another daemon holds the home: it will listen in a moment, or it is ending.
                held_since = time.monotonic() if held_since is None else held_since
                if time.monotonic() - held_since > HELD_S:
                    raise Failure("unreachable")
                if time.monotonic() - started_at > RESTART_S:
                    daemon, started_at = self._spawn(program), time.monotonic()
        raise Failure("not_started")

    def _spawn(self, program: Path) -> subprocess.Popen[bytes]:
        # Kept, so that daemons that have ended are waited for.
        self._started = [daemon for daemon in self._started if daemon.poll() is None]
        self._started.append(start_daemon(program, self.home.directory))
        return self._started[-1]

    async def _try_connect(self) -> ByteStream | None:
        """Connects, or returns `None` if nobody listens. Waits while the daemon's queue is full."""
        while True:
            try:
                with self.home.socket_path() as path:
                    return await anyio.connect_unix(path)
            except OSError as error:
                if error.errno != errno.EAGAIN:
                    return None
            await anyio.sleep(TRY_AGAIN_S)


async def _exchange(stream: ByteStream, request: Request, limit: anyio.CancelScope) -> Reply:
    """Sends a request and reads until the reply. A *hold* moves the end of the wait."""
    last = anyio.current_time() + HOLD_S_MAX
    reader = FrameReader()
    try:
        await stream.send(request.encode())
    except (OSError, anyio.BrokenResourceError):
        # A daemon that rejects early has answered already.
        pass
    while True:
        try:
            frames = reader.push(await stream.receive())
        except ProtocolError:
            raise Failure("protocol") from None
        except (OSError, anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise Failure("disconnected") from None
        for frame in frames:
            if isinstance(frame, Hold):
                limit.deadline = min(anyio.current_time() + frame.ms / 1000, last)
            else:
                return frame
