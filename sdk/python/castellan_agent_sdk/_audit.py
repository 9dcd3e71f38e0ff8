"""`Attempt`: a tool call that a locked-down agent has tried. Auditing never raises and never allows."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal

from claude_agent_sdk import AssistantMessage, Message, ToolUseBlock

from ._limits import AUDIT_INPUT_UNITS_MAX

SeenBy = Literal["hook", "permission", "message"]


@dataclass(frozen=True)
class Attempt:
    """An attempt. More than one layer may see the same attempt."""

    ts: str
    """Time as ISO 8601, UTC."""

    source: str
    """The `source` of the lockdown: the part of the program that runs the agent."""

    seen_by: SeenBy
    """The layer that saw it: the SDK's hook, the permission callback, or the stream of messages."""

    tool_name: str

    tool_use_id: str
    """The model's id of the call; empty if unknown."""

    input: str
    """The input as text, at most 4096 UTF-16 units and a mark."""


Audit = Callable[[Attempt], Awaitable[None] | None]
"""Receives each attempt. An error in it is written to standard error; the call is denied all the same."""


async def record(audit: Audit, source: str, seen_by: SeenBy, name: str, use_id: str, tool_input: Any) -> None:
    """Sends an attempt to the audit."""
    try:
        ts = datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")
        done = audit(Attempt(ts, source, seen_by, name, use_id, _input_text(tool_input)))
        if inspect.isawaitable(done):
            await done
    except Exception as error:
        print(f"castellan: an attempt of a locked-down agent could not be recorded: {error}", file=sys.stderr)


async def audited(messages: AsyncIterable[Message], *, audit: Audit, source: str) -> AsyncIterator[Message]:
    """Passes the messages of a query on, and records each tool call in them.

    A call that the agent itself refuses, because it has no such tool, reaches no callback; it is seen only here.
    """
    async for message in messages:
        if isinstance(message, AssistantMessage):
            for block in message.content:
                if isinstance(block, ToolUseBlock):
                    await record(audit, source, "message", block.name, block.id, block.input)
        yield message


def _input_text(tool_input: Any) -> str:
    try:
        text = tool_input if isinstance(tool_input, str) else json.dumps(tool_input, ensure_ascii=False)
        units = text.encode("utf-16-le", "surrogatepass")
    except (TypeError, ValueError, RecursionError):
        return "[UNSERIALIZABLE]"
    if len(units) <= 2 * AUDIT_INPUT_UNITS_MAX:
        return text
    return units[: 2 * AUDIT_INPUT_UNITS_MAX].decode("utf-16-le", "ignore") + "…[TRUNCATED]"
