"""The environment and the private directories of a locked-down agent. It must not know tools."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_INHERITED: Final = frozenset(
    """PATH USER LOGNAME LANG LC_ALL LC_CTYPE TZ TERM TMPDIR HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy
    all_proxy no_proxy NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR""".split()
)
"""Variables that the agent gets from this program. None of them holds a secret or names a file with settings."""

_GIVEN: Final = frozenset(
    """ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_USE_BEDROCK
    CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_USE_FOUNDRY ANTHROPIC_BEDROCK_BASE_URL ANTHROPIC_VERTEX_BASE_URL
    ANTHROPIC_VERTEX_PROJECT_ID ANTHROPIC_FOUNDRY_API_KEY ANTHROPIC_FOUNDRY_BASE_URL ANTHROPIC_FOUNDRY_RESOURCE
    CLOUD_ML_REGION AWS_REGION AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_BEARER_TOKEN_BEDROCK
    CLAUDE_AGENT_SDK_CLIENT_APP CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC DISABLE_AUTOUPDATER DISABLE_TELEMETRY
    DISABLE_ERROR_REPORTING""".split()
)
"""Variables that a caller may set: the model's address and credentials, and switches that only take something away."""


def make_private(directory: str | os.PathLike[str] | None) -> tuple[Path, Path]:
    """Makes the working directory and the home of the agent below `directory`, or below a new temporary one.

    Raises `ValueError` if `directory` is not private.
    """
    root = Path(tempfile.mkdtemp(prefix="castellan-locked-") if directory is None else directory)
    if not root.is_absolute():
        raise ValueError(f"hardened_options: `directory` must be an absolute path, not `{root}`")
    work, home = root / "work", root / "home"
    root.parent.mkdir(parents=True, exist_ok=True)
    for place in (root, work, home):
        if not os.path.lexists(place):
            place.mkdir(mode=0o700)
        _check_private(place)
    return work, home


def _check_private(place: Path) -> None:
    """Raises unless this user alone can use the directory. A symlink is no directory here."""
    found = os.lstat(place)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise ValueError(f"hardened_options: `{place}` is no directory of this user alone: give it the mode 0700")


def environment(home: Path, given: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of the agent. Raises `ValueError` on one that could loosen the lockdown.

    The Python SDK adds them to the variables of this program. So each other variable gets an empty value here.
    """
    for name in given:
        if name not in _GIVEN:
            raise ValueError(
                f"hardened_options: the variable `{name}` is not one of those that a locked-down agent may have"
            )
    if "ANTHROPIC_BASE_URL" in given and "CLAUDE_CODE_OAUTH_TOKEN" in given:
        raise ValueError(
            "hardened_options: a login token of the user is not sent to another address: give `ANTHROPIC_API_KEY`"
        )
    emptied = {name: "" for name in os.environ if name not in _INHERITED}
    return {**emptied, **given, "HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / ".claude")}
