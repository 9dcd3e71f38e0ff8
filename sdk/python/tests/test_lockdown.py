import os
import tempfile
import unittest
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest import mock

import anyio
from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, PermissionResultDeny, ToolPermissionContext, ToolUseBlock

from castellan_agent_sdk import Attempt, audited, hardened_options


def fresh() -> Path:
    return Path(tempfile.mkdtemp(prefix="castellan-test-"))


def build(**more: Any) -> ClaudeAgentOptions:
    given = {"source": "observer", "audit": lambda _attempt: None, "directory": fresh(), **more}
    return hardened_options(**given)


class LockdownTest(unittest.TestCase):
    def test_an_option_that_could_loosen_the_lockdown_is_an_error_that_names_it(self) -> None:
        names = """tools allowed_tools disallowed_tools permission_mode can_use_tool hooks setting_sources settings mcp_servers
            strict_mcp_config plugins skills add_dirs cwd agents extra_args resume continue_conversation sandbox
            verbatim_prompts permission_prompt_tool_name output_format user unknown"""
        for name in names.split():
            with self.subTest(name), self.assertRaisesRegex(ValueError, f"`{name}` could loosen the lockdown"):
                build(**{name: None})
        for wrong in ({"source": ""}, {"audit": None}):
            with self.assertRaisesRegex(ValueError, "must be a name"):
                build(**wrong)

    def test_what_loosens_nothing_is_passed_on(self) -> None:
        options = build(model="m", max_turns=3, system_prompt="s")
        self.assertEqual((options.model, options.max_turns, options.system_prompt), ("m", 3, "s"))

    def test_the_environment_is_an_allow_list(self) -> None:
        secrets = {"GITHUB_TOKEN": "secret", "ANTHROPIC_API_KEY": "secret", "CLAUDE_CODE_X": "secret"}
        with mock.patch.dict(os.environ, secrets):
            options = build(env={"ANTHROPIC_AUTH_TOKEN": "mine"})
            # As the SDK joins them.
            whole = {**os.environ, **options.env}
        self.assertNotIn("secret", whole.values())
        self.assertEqual((whole["ANTHROPIC_AUTH_TOKEN"], whole["PATH"]), ("mine", os.environ["PATH"]))
        self.assertEqual(Path(whole["HOME"]), Path(str(options.cwd)).parent / "home")
        for name in ["NODE_OPTIONS", "LD_PRELOAD", "HOME", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_SIMPLE", "PATH"]:
            with self.assertRaisesRegex(ValueError, name):
                build(env={name: "x"})
        with self.assertRaisesRegex(ValueError, "login token"):
            build(env={"ANTHROPIC_BASE_URL": "x", "CLAUDE_CODE_OAUTH_TOKEN": "x"})

    def test_the_directories_are_private_or_an_error(self) -> None:
        directory = fresh() / "new/deep"
        self.assertEqual(build(directory=directory).cwd, directory / "work")
        for place in (directory, directory / "work", directory / "home"):
            self.assertEqual(place.stat().st_mode & 0o777, 0o700)
        is_open, link, open_work = fresh(), fresh() / "link", fresh()
        is_open.chmod(0o755)
        link.symlink_to(fresh())
        (open_work / "work").mkdir(mode=0o755)
        for wrong in (is_open, link, open_work):
            with self.assertRaisesRegex(ValueError, "0700"):
                build(directory=wrong)
        with self.assertRaisesRegex(ValueError, "absolute"):
            build(directory="relative")

    def test_hook_and_callback_deny_every_name_after_they_have_recorded_it(self) -> None:
        rows: list[tuple[Any, str]] = [
            ({"command": "ls"}, '{"command": "ls"}'),
            ("x" * 4096, "x" * 4096),
            ("x" * 4097, "x" * 4096 + "…[TRUNCATED]"),
            ("😀" * 2048, "😀" * 2048),
            ("x" + "😀" * 2048, "x" + "😀" * 2047 + "…[TRUNCATED]"),
            ({"o": object()}, "[UNSERIALIZABLE]"),
        ]
        for tool_input, text in rows:
            seen: list[Attempt] = []
            options = build(audit=seen.append)

            async def both(options: Any = options, tool_input: Any = tool_input) -> tuple[Any, Any]:
                call = {"tool_name": "OfTheFuture", "tool_input": tool_input, "tool_use_id": "u"}
                output = await options.hooks["PreToolUse"][0].hooks[0](call, "u", {"signal": None})
                context = ToolPermissionContext(tool_use_id="u")
                return output, await options.can_use_tool("OfTheFuture", tool_input, context)

            output, answer = anyio.run(both)
            self.assertEqual(output["hookSpecificOutput"]["permissionDecision"], "deny")
            self.assertEqual(answer, PermissionResultDeny(message="observer is forbidden from tool use"))
            self.assertEqual([one.seen_by for one in seen], ["hook", "permission"])
            self.assertEqual({(one.input, one.tool_name, one.source) for one in seen}, {(text, "OfTheFuture", "observer")})

    def test_an_audit_that_fails_allows_nothing(self) -> None:
        def audit(_attempt: Attempt) -> None:
            raise OSError("disk full")

        async def deny() -> Any:
            callback = build(audit=audit).can_use_tool
            assert callback is not None
            return await callback("Bash", {}, ToolPermissionContext(tool_use_id="u"))

        self.assertIsInstance(anyio.run(deny), PermissionResultDeny)

    def test_tool_calls_in_messages_are_recorded_and_all_messages_passed_on(self) -> None:
        seen: list[Attempt] = []
        message = AssistantMessage(content=[ToolUseBlock(id="u", name="Bash", input={})], model="m")

        async def stream() -> AsyncIterator[Any]:
            yield message

        async def passed() -> list[Any]:
            return [one async for one in audited(stream(), audit=seen.append, source="s")]

        self.assertEqual(anyio.run(passed), [message])
        found = [{key: value for key, value in asdict(one).items() if key != "ts"} for one in seen]
        expected = {"source": "s", "seen_by": "message", "tool_name": "Bash", "tool_use_id": "u", "input": "{}"}
        self.assertEqual(found, [expected])
