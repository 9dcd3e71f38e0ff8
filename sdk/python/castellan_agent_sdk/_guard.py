"""`create_guard`: hooks and a permission callback for the Claude Agent SDK that ask the castellan daemon about each call.
Every error denies. It must not know how the daemon is reached.
"""

from __future__ import annotations

import copy
import json
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from claude_agent_sdk import (
    CanUseTool,
    HookCallback,
    HookMatcher,
    PermissionResult,
    PermissionResultAllow,
    PermissionResultDeny,
    ToolPermissionContext,
)
from claude_agent_sdk.types import HookEvent

from ._answer import Answer, read_permission, read_question
from ._daemon import Daemon
from ._failure import Failure, as_failure
from ._frame import Reply, Request
from ._home import Home
from ._limits import CALL_S, CALLS_MAX, EVENT_S, HOOK_TIMEOUT_S
from ._start import find_program

_AGENT: Final = "claude"

_REPORTED: Final[tuple[HookEvent, ...]] = ("PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SubagentStop")
"""Events that keep the daemon's memory of the session right. The Python SDK has no hooks for the ends of a session."""

_NOBODY: Final = "castellan leaves this call to a person, and nobody can answer here. Tell the user"


@dataclass(frozen=True)
class PersonQuestion:
    """A call for a person."""

    tool_name: str
    input: dict[str, Any]
    verdict: Literal["ask", "defer"]
    """`ask`: castellan wants a person to decide. `defer`: castellan has no objection; the agent's own permissions ask."""

    reason: str
    """castellan's reason; empty for `defer`."""

    context: ToolPermissionContext
    """The SDK's own data about the question."""


AskPerson = Callable[[PersonQuestion], Awaitable[PermissionResult]]
"""Asks a person. It must not change the input, and it never sees a call that castellan denies."""


@dataclass(frozen=True)
class Guard:
    """Pass both to `ClaudeAgentOptions`. The callback denies each call that the hooks have not asked about."""

    hooks: dict[HookEvent, list[HookMatcher]]
    can_use_tool: CanUseTool


def create_guard(
    *,
    home: str | os.PathLike[str] | None = None,
    castellan: str | os.PathLike[str] | None = None,
    ask_person: AskPerson | None = None,
) -> Guard:
    """Returns hooks and a permission callback for one or more queries.

    `home` is the home of castellan, an absolute path; by default `.local/share/castellan` in the user's home directory.
    `castellan` is the program that starts a missing daemon; by default at the places of an installation. Without
    `ask_person`, a call that castellan neither denies nor allows is denied when the SDK asks about it.
    """
    asking = _Asking(Daemon(Home(home), find_program(castellan)), ask_person)
    hooks: dict[HookEvent, list[HookMatcher]] = {"PreToolUse": [_matcher(asking.question)]}
    hooks.update({event: [_matcher(asking.report)] for event in _REPORTED})
    return Guard(hooks, asking.permission)


def _matcher(hook: HookCallback) -> HookMatcher:
    return HookMatcher(hooks=[hook], timeout=HOOK_TIMEOUT_S, on_failure="block")


@dataclass(frozen=True)
class _Asked:
    """A call that the hook has asked about."""

    payload: dict[str, Any]
    answer: Answer


class _Asking:
    def __init__(self, daemon: Daemon, ask_person: AskPerson | None) -> None:
        self._daemon = daemon
        self._ask_person = ask_person
        self._asked: OrderedDict[str, _Asked] = OrderedDict()

    async def question(self, payload: Any, _id: str | None, _context: Any) -> Any:
        """The hook before a call."""
        answer = await self._answer(payload)
        self._remember(_Asked(copy.deepcopy(payload), answer))
        output: dict[str, Any] = {"systemMessage": answer.note} if answer.note else {}
        if answer.verdict != "defer":
            output["hookSpecificOutput"] = {
                "hookEventName": "PreToolUse",
                "permissionDecision": answer.verdict,
                "permissionDecisionReason": answer.reason,
            }
        return output

    async def report(self, payload: Any, _id: str | None, _context: Any) -> Any:
        """The hooks of other events. No call depends on their answers."""
        self._asked.pop(str(payload.get("tool_use_id")), None)
        try:
            await self._send(str(payload.get("hook_event_name")), payload, EVENT_S)
        except Failure:
            # The note of the gap is written; the next call is denied if the daemon is still missing.
            pass
        return {}

    async def permission(
        self, tool_name: str, tool_input: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResult:
        """The SDK's permission callback: castellan's second question, then a person."""
        try:
            asked = self._asked.get(str(context.tool_use_id))
            if asked is None:
                raise Failure("unasked")
            answer = await self._again(asked, tool_name, tool_input)
            if answer.verdict == "deny":
                return PermissionResultDeny(message=answer.reason)
            if self._ask_person is None:
                return PermissionResultDeny(message=answer.reason if answer.verdict == "ask" else _NOBODY)
            verdict: Literal["ask", "defer"] = "ask" if answer.verdict == "ask" else "defer"
            question = PersonQuestion(tool_name, copy.deepcopy(tool_input), verdict, answer.reason, context)
            return _persons_answer(await self._ask_person(question), tool_input)
        except Exception as error:
            return PermissionResultDeny(message=str(as_failure(error)))

    async def _again(self, asked: _Asked, tool_name: str, tool_input: dict[str, Any]) -> Answer:
        """Asks for the second time. An input that another hook has changed since is a new question."""
        payload = asked.payload
        if (payload.get("tool_name"), payload.get("tool_input")) != (tool_name, tool_input):
            return await self._answer({**payload, "tool_name": tool_name, "tool_input": tool_input})
        again = {key: value for key, value in payload.items() if key != "tool_use_id"}
        again["hook_event_name"] = "PermissionRequest"
        second = read_permission(await self._send("PermissionRequest", again, CALL_S))
        return second if second.verdict == "deny" else asked.answer

    async def _answer(self, payload: dict[str, Any]) -> Answer:
        try:
            return read_question(await self._send("PreToolUse", payload, CALL_S))
        except Exception as error:
            return Answer("deny", str(as_failure(error)))

    async def _send(self, event: str, payload: dict[str, Any], seconds: float) -> Reply:
        try:
            # ASCII: a lone surrogate becomes an escape, which the daemon rejects.
            content = json.dumps(payload, allow_nan=False).encode()
            return await self._daemon.ask(Request(_AGENT, event, os.getpid(), _working_directory(), content), seconds)
        except Exception as error:
            failure = as_failure(error)
            self._daemon.home.note_gap(_AGENT, event, failure)
            raise failure from None

    def _remember(self, asked: _Asked) -> None:
        call = str(asked.payload.get("tool_use_id"))
        self._asked.pop(call, None)
        if len(self._asked) >= CALLS_MAX:
            self._asked.popitem(last=False)
        self._asked[call] = asked


def _persons_answer(answer: PermissionResult, tool_input: dict[str, Any]) -> PermissionResult:
    """Checks the answer of `ask_person`. A changed input was never judged, so it does not run."""
    if isinstance(answer, PermissionResultDeny):
        return answer
    if not isinstance(answer, PermissionResultAllow):
        raise Failure("internal")
    if answer.updated_input is not None and answer.updated_input != tool_input:
        return PermissionResultDeny(message="castellan has not judged the changed input of this call. Tell the user")
    return PermissionResultAllow(updated_input=tool_input, updated_permissions=answer.updated_permissions)


def _working_directory() -> bytes:
    try:
        return os.getcwdb()
    except OSError:
        return b""
