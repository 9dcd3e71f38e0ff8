"""A home of castellan, as `crates/wire/src/home.rs` lays it out. Nothing here is read from the environment, because a
repository's `.env` could set it.
"""

from __future__ import annotations

import os
import pwd
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ._failure import Failure
from ._limits import GAPS_BYTES_MAX, SOCKET_PATH_BYTES_MAX

_GAPS_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def user_directory() -> Path:
    """Returns the user's home directory by the list of users."""
    return Path(pwd.getpwuid(os.geteuid()).pw_dir)


class Home:
    """The files of a home that this package uses."""

    def __init__(self, directory: str | os.PathLike[str] | None = None) -> None:
        """`directory` is absolute. Without it: `.local/share/castellan` in the user's home directory."""
        self.directory = user_directory() / ".local/share/castellan" if directory is None else Path(directory)
        if not self.directory.is_absolute():
            raise ValueError(f"the home of castellan must be an absolute path, not `{self.directory}`")
        self._run = self.directory / "run"

    @property
    def is_stopped(self) -> bool:
        """Reports whether a person stopped castellan on purpose."""
        return (self._run / "stopped").exists()

    def check_private(self) -> None:
        """Raises `Failure` unless `run` belongs to this user alone: another user could answer in the daemon's place."""
        try:
            run = os.lstat(self._run)
        except OSError:
            raise Failure("home") from None
        if not stat.S_ISDIR(run.st_mode) or run.st_uid != os.geteuid() or run.st_mode & 0o077:
            raise Failure("home")

    @contextmanager
    def socket_path(self) -> Iterator[str]:
        """Gives a path to the daemon's socket for hooks that a socket address can hold."""
        path = self._run / "hook.sock"
        if len(os.fsencode(path)) <= SOCKET_PATH_BYTES_MAX:
            yield str(path)
            return
        directory = os.open(self._run, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield f"/proc/self/fd/{directory}/hook.sock"
        finally:
            os.close(directory)

    def note_gap(self, agent: str, event: str, failure: Failure) -> None:
        """Leaves a line for the next daemon about an event that was answered without one. Ignores failures."""
        line = f"1 {time.time_ns() // 1_000_000} {agent} {event} {os.getpid()} {failure.word}\n"
        # The call is denied already; a missing note loosens nothing.
        with suppress(OSError):
            file = os.open(self._run / "gaps", _GAPS_FLAGS, 0o600)
            try:
                found = os.fstat(file)
                if stat.S_ISREG(found.st_mode) and found.st_size <= GAPS_BYTES_MAX:
                    os.write(file, line.encode())
            finally:
                os.close(file)
