"""Starts the daemon as castellan's hook does: in `/`, in a session of its own, without this program's environment."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

from ._failure import Failure
from ._home import user_directory

DAEMON_ALREADY_RUNS: Final = 5
"""Exit code of `castellan daemon` when another daemon serves the home."""

_ENVIRONMENT: Final = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "131072"}
"""The whole environment of a started daemon, as `crates/wire/src/home.rs` has it."""


def find_program(named: str | os.PathLike[str] | None) -> Path | None:
    """Returns `named`, or the `castellan` at one of the two places of an installation; `None` if there is none."""
    if named is not None and not Path(named).is_absolute():
        raise ValueError(f"the program castellan must be an absolute path, not `{named}`")
    defaults = [user_directory() / ".local/bin/castellan", Path("/usr/local/bin/castellan")]
    places = defaults if named is None else [Path(named)]
    return next((place for place in places if place.is_file()), None)


def start_daemon(program: Path, home: Path) -> subprocess.Popen[bytes]:
    """Starts the daemon of a home."""
    try:
        return subprocess.Popen(
            [program, "daemon", "--home", home],
            cwd="/",
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        raise Failure("not_started") from None
