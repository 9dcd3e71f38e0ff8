/**
 * [`hardenedOptions`]: the options of an agent that has no tools, in redundant layers. One builder for every such agent, so
 * that all of them have the same layers.
 */

import type { CanUseTool, HookCallback, Options, SyncHookJSONOutput } from '@anthropic-ai/claude-agent-sdk';

import { record, type Audit } from './audit.js';
import { environment, makePrivate } from './environment.js';
import { HOOK_TIMEOUT_S } from './limits.js';

/** Options of the SDK that loosen nothing. */
const CALLERS = [
  'abortController', 'betas', 'effort', 'fallbackModel', 'forwardSubagentText', 'includePartialMessages',
  'maxBudgetUsd', 'maxThinkingTokens', 'maxTurns', 'model', 'pathToClaudeCodeExecutable', 'persistSession',
  'sessionId', 'stderr', 'systemPrompt', 'taskBudget', 'thinking',
] as const satisfies readonly (keyof Options)[];

/** Options of this builder. */
const OWN = ['audit', 'directory', 'env', 'source'] as const;

/** The input of [`hardenedOptions`]: options of the SDK that loosen nothing, and the builder's own. */
export interface HardenedInput extends Pick<Options, (typeof CALLERS)[number]> {
  /** The part of the program that runs the agent. It is in each audit row and each refusal. */
  source: string;
  /** Receives each attempt to call a tool. */
  audit: Audit;
  /** An absolute directory for the agent alone. It is made with mode 0700. Default: a new temporary one. */
  directory?: string;
  /** Address and credentials of the model. Nothing of them is inherited. */
  env?: Record<string, string>;
}

/**
 * Tools by name. The last two entries deny every other tool, also of MCP servers and of the future. The names remain for
 * versions of Claude Code that read only names.
 */
export const DENIED_TOOLS: readonly string[] = [
  'Agent', 'AskUserQuestion', 'Bash', 'BashOutput', 'Config', 'CronCreate', 'CronDelete', 'CronList', 'Edit',
  'EnterPlanMode', 'EnterWorktree', 'ExitPlanMode', 'ExitWorktree', 'Glob', 'Grep', 'KillShell', 'ListAgents',
  'ListMcpResourcesTool', 'LSP', 'Monitor', 'MultiEdit', 'NotebookEdit', 'PowerShell', 'Read', 'ReadMcpResourceTool',
  'ReportFindings', 'ScheduleWakeup', 'SendMessage', 'SendUserMessage', 'Skill', 'SlashCommand', 'Task', 'TaskCreate',
  'TaskGet', 'TaskList', 'TaskOutput', 'TaskStop', 'TaskUpdate', 'TodoWrite', 'ToolSearch', 'WebFetch', 'WebSearch',
  'Workflow', 'Write', 'mcp__*', '*',
];

/**
 * Returns the options of a locked-down agent. Throws on an option that could loosen the lockdown, and if the directory is not
 * private. Also pass the query's messages through `audited`.
 */
export function hardenedOptions(input: HardenedInput): Options {
  const { source, audit, directory, env, ...callers } = input;
  refuseOthers(input);
  const { work, home } = makePrivate(directory);
  const refusal = `${source} is forbidden from tool use`;
  const hook = denyingHook(audit, source, refusal);
  return {
    ...callers,
    tools: [],
    allowedTools: [],
    disallowedTools: [...DENIED_TOOLS],
    permissionMode: 'dontAsk',
    canUseTool: denyingCallback(audit, source, refusal),
    hooks: { PreToolUse: [{ hooks: [hook], timeout: HOOK_TIMEOUT_S, onFailure: 'block' }] },
    // The settings of a command line win over a repository's. Their rules also stop `@FILE` in a prompt.
    settings: { permissions: { deny: DENIED_TOOLS.filter((name) => name !== '*') }, disableAllHooks: false },
    settingSources: [],
    mcpServers: {},
    strictMcpConfig: true,
    plugins: [],
    skills: [],
    additionalDirectories: [],
    // Without this, `@FILE` in a prompt sends a file to the model, and `/COMMAND` runs a command.
    verbatimPrompts: true,
    cwd: work,
    env: environment(home, env ?? {}),
  };
}

function refuseOthers(input: HardenedInput): void {
  const known: readonly string[] = [...CALLERS, ...OWN];
  const others = Object.keys(input).filter((name) => !known.includes(name));
  if (others.length > 0) {
    const names = others.map((name) => `\`${name}\``).join(', ');
    throw new Error(`hardenedOptions: ${names} could loosen the lockdown; a locked-down agent takes only ${known.join(', ')}`);
  }
  if (typeof input.source !== 'string' || input.source === '' || typeof input.audit !== 'function') {
    throw new TypeError('hardenedOptions: `source` must be a name, and `audit` a function');
  }
}

function denyingHook(audit: Audit, source: string, refusal: string): HookCallback {
  return async (input): Promise<SyncHookJSONOutput> => {
    if (input.hook_event_name === 'PreToolUse') {
      const attempt = { source, seenBy: 'hook', toolName: input.tool_name, toolUseId: input.tool_use_id } as const;
      await record(audit, attempt, input.tool_input);
    }
    return {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: refusal,
      },
    };
  };
}

function denyingCallback(audit: Audit, source: string, refusal: string): CanUseTool {
  return async (toolName, input, { toolUseID }) => {
    await record(audit, { source, seenBy: 'permission', toolName, toolUseId: toolUseID }, input);
    return { behavior: 'deny', message: refusal };
  };
}
