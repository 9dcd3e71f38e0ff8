"""Meaning of the daemon's replies. Each reply that is not exactly one of the known forms is a failure, so it denies."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from ._failure import Failure
from ._frame import Reply

_NO_REASON = "castellan gave no reason"


@dataclass(frozen=True)
class Answer:
    """The daemon's answer to a question about a call."""

    verdict: Literal["deny", "ask", "allow", "defer"]
    """`defer` leaves the call to the agent's own permissions."""

    reason: str = ""
    """The reason; empty only for `defer`."""

    note: str = ""
    """A note for the user, which the model does not read; may be empty."""


def read_question(reply: Reply) -> Answer:
    """Reads the reply to the question before a call. Raises `Failure`."""
    if reply.exit == 2:
        return Answer("deny", reply.stderr.decode(errors="replace").strip() or _NO_REASON)
    keys = {"permissionDecision", "permissionDecisionReason"}
    output, note = _read_output(reply, "PreToolUse", keys)
    if output is None:
        return Answer("defer", note=note)
    verdict, reason = output.get("permissionDecision"), output.get("permissionDecisionReason", "")
    if verdict not in ("deny", "ask", "allow") or not isinstance(reason, str):
        raise Failure("protocol")
    return Answer(verdict, reason or _NO_REASON, note)


def read_permission(reply: Reply) -> Answer:
    """Reads the reply to the second question, at the agent's prompt. `defer` leaves the prompt to a person."""
    output, note = _read_output(reply, "PermissionRequest", {"decision"})
    if output is None:
        return Answer("defer", note=note)
    decision = output.get("decision")
    message = decision.get("message") if isinstance(decision, dict) and decision.get("behavior") == "deny" else None
    if not isinstance(message, str):
        raise Failure("protocol")
    return Answer("deny", message, note)


def _read_output(reply: Reply, event: str, keys: set[str]) -> tuple[dict[str, Any] | None, str]:
    """Reads standard output: the decision for an event, and a note for the user. An unknown key is a failure."""
    stdout = reply.stdout.decode(errors="replace")
    if reply.exit != 0:
        raise Failure("protocol")
    if not stdout.strip():
        return None, ""
    try:
        whole = json.loads(stdout)
    except (ValueError, RecursionError):
        raise Failure("protocol") from None
    if not isinstance(whole, dict) or not whole.keys() <= {"hookSpecificOutput", "systemMessage"}:
        raise Failure("protocol")
    note = whole.get("systemMessage", "")
    if not isinstance(note, str):
        raise Failure("protocol")
    if "hookSpecificOutput" not in whole:
        return None, note
    output = whole["hookSpecificOutput"]
    if not isinstance(output, dict) or output.get("hookEventName") != event or not output.keys() <= {"hookEventName", *keys}:
        raise Failure("protocol")
    return output, note

