"""Runs one query of the real Claude Agent SDK for `tests/tests/lockdown/sdk`. Its argument is a JSON description, which
`castellan_tests::sdk::Query` writes. It prints each event as a line of JSON. The same program in TypeScript: `drive.mjs`.
"""

import json
import sys
from dataclasses import replace
from typing import Any

import anyio
from claude_agent_sdk import (
    ClaudeAgentOptions,
    PermissionResult,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    query,
)

from castellan_agent_sdk import Attempt, PersonQuestion, audited, create_guard, hardened_options

SPEC = json.loads(sys.argv[1])


def say(**event: Any) -> None:
    print(json.dumps(event), flush=True)


def audit(attempt: Attempt) -> None:
    say(attempt=f"{attempt.seen_by} {attempt.tool_name}")


async def yes(_name: str, _input: dict[str, Any], _context: Any) -> PermissionResult:
    return PermissionResultAllow()


# The options that take each layer out.
WITHOUT: dict[str, dict[str, Any]] = {
    "tools": {"tools": None},
    "deny_list": {"disallowed_tools": []},
    "mode": {"permission_mode": None},
    "callback": {"can_use_tool": None},
    "callback_yes": {"can_use_tool": yes},
    "hook": {"hooks": None},
    "settings": {"settings": None},
    # Its skills would open the sources of the user and the project alone.
    "sources": {"setting_sources": None, "skills": None},
    "mcp": {"strict_mcp_config": False},
    "verbatim": {"verbatim_prompts": False},
}


def locked() -> ClaudeAgentOptions:
    options = hardened_options(source="observer", audit=audit, directory=SPEC["directory"], env=SPEC["env"])
    for layer in SPEC["without"]:
        options = replace(options, **WITHOUT[layer])
    return replace(options, env={**options.env, **SPEC["more_env"]})


async def person(question: PersonQuestion) -> PermissionResult:
    say(person=question.verdict)
    if SPEC["person"] == "yes":
        return PermissionResultAllow()
    return PermissionResultDeny(message="the person refuses")


def guarded() -> ClaudeAgentOptions:
    guard = create_guard(
        home=SPEC["home"], castellan=SPEC["castellan"], ask_person=person if SPEC["person"] else None
    )
    return ClaudeAgentOptions(
        cwd=SPEC["cwd"],
        env={**SPEC["env"], **SPEC["more_env"]},
        permission_mode=SPEC["mode"],
        hooks=guard.hooks,
        can_use_tool=guard.can_use_tool,
    )


async def main() -> None:
    messages = query(prompt=SPEC["prompt"], options=locked() if SPEC["directory"] else guarded())
    if SPEC["directory"]:
        messages = audited(messages, audit=audit, source="observer")
    async for message in messages:
        if isinstance(message, ResultMessage):
            say(result=message.subtype)


anyio.run(main)
