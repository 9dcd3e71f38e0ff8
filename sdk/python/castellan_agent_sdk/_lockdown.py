"""`hardened_options`: the options of an agent that has no tools, in redundant layers. One builder for every such agent, so
that all of them have the same layers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Final

from claude_agent_sdk import (
    CanUseTool,
    ClaudeAgentOptions,
    HookCallback,
    HookMatcher,
    PermissionResult,
    PermissionResultDeny,
    ToolPermissionContext,
)

from ._audit import Audit, record
from ._environment import environment, make_private
from ._limits import HOOK_TIMEOUT_S

_CALLERS: Final = frozenset(
    """betas cli_path effort fallback_model forward_subagent_text include_partial_messages max_budget_usd max_buffer_size
    max_thinking_tokens max_turns model session_id stderr system_prompt task_budget thinking""".split()
)
"""Options of the SDK that loosen nothing."""

DENIED_TOOLS: Final[tuple[str, ...]] = tuple(
    """Agent AskUserQuestion Bash BashOutput Config CronCreate CronDelete CronList Edit EnterPlanMode EnterWorktree
    ExitPlanMode ExitWorktree Glob Grep KillShell ListAgents ListMcpResourcesTool LSP Monitor MultiEdit NotebookEdit
    PowerShell Read ReadMcpResourceTool ReportFindings ScheduleWakeup SendMessage SendUserMessage Skill SlashCommand Task
    TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TodoWrite ToolSearch WebFetch WebSearch Workflow Write
    mcp__* *""".split()
)
"""Tools by name. The last two entries deny every other tool, also of MCP servers and of the future. The names remain for
versions of Claude Code that read only names.
"""


def hardened_options(
    *,
    source: str,
    audit: Audit,
    directory: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    **callers: Any,
) -> ClaudeAgentOptions:
    """Returns the options of a locked-down agent. Also pass the query's messages through `audited`.

    `source` names the part of the program that runs the agent, for audit rows and refusals. `directory` is an absolute
    directory for the agent alone; by default a new temporary one. `env` holds address and credentials of the model:
    nothing of them is inherited. `callers` are options of the SDK that loosen nothing.

    Raises `ValueError` on an option that could loosen the lockdown, and if the directory is not private.
    """
    others = sorted(callers.keys() - _CALLERS)
    if others:
        names = ", ".join(f"`{name}`" for name in others)
        known = ", ".join(sorted(_CALLERS | {"audit", "directory", "env", "source"}))
        raise ValueError(
            f"hardened_options: {names} could loosen the lockdown; a locked-down agent takes only {known}"
        )
    if not source or not callable(audit):
        raise ValueError("hardened_options: `source` must be a name, and `audit` a function")
    work, home = make_private(directory)
    refusal = f"{source} is forbidden from tool use"
    hook = _denying_hook(audit, source, refusal)
    # The settings of a command line win over a repository's. Their rules also stop `@FILE` in a prompt.
    rules = [name for name in DENIED_TOOLS if name != "*"]
    return ClaudeAgentOptions(
        **callers,
        tools=[],
        allowed_tools=[],
        disallowed_tools=list(DENIED_TOOLS),
        permission_mode="dontAsk",
        can_use_tool=_denying_callback(audit, source, refusal),
        hooks={"PreToolUse": [HookMatcher(hooks=[hook], timeout=HOOK_TIMEOUT_S, on_failure="block")]},
        settings=json.dumps({"permissions": {"deny": rules}, "disableAllHooks": False}),
        setting_sources=[],
        mcp_servers={},
        strict_mcp_config=True,
        plugins=[],
        skills=[],
        add_dirs=[],
        # Without this, `@FILE` in a prompt sends a file to the model, and `/COMMAND` runs a command.
        verbatim_prompts=True,
        cwd=work,
        env=environment(home, env or {}),
    )


def _denying_hook(audit: Audit, source: str, refusal: str) -> HookCallback:
    async def hook(payload: Any, _id: str | None, _context: Any) -> Any:
        name, use_id = str(payload.get("tool_name")), str(payload.get("tool_use_id") or "")
        await record(audit, source, "hook", name, use_id, payload.get("tool_input"))
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": refusal,
            }
        }

    return hook


def _denying_callback(audit: Audit, source: str, refusal: str) -> CanUseTool:
    async def can_use_tool(name: str, tool_input: dict[str, Any], context: ToolPermissionContext) -> PermissionResult:
        await record(audit, source, "permission", name, context.tool_use_id or "", tool_input)
        return PermissionResultDeny(message=refusal)

    return can_use_tool
