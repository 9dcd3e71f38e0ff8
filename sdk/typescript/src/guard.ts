/**
 * [`createGuard`]: hooks and a permission callback for the Claude Agent SDK that ask the castellan daemon about each call.
 * Every error denies. It must not know how the daemon is reached.
 */

import type {
  CanUseTool,
  HookCallback,
  HookCallbackMatcher,
  HookInput,
  HookJSONOutput,
  PermissionResult,
  PreToolUseHookInput,
} from '@anthropic-ai/claude-agent-sdk';

import { readPermission, readQuestion, type Answer } from './answer.js';
import { Daemon, type Reply } from './daemon.js';
import { Failure, asFailure } from './failure.js';
import { Home } from './home.js';
import { CALL_MS, CALLS_MAX, EVENT_MS, HOOK_TIMEOUT_S, SESSION_END_MS } from './limits.js';
import { findProgram } from './start.js';

/** Settings of a guard. */
export interface GuardOptions {
  /** The home of castellan, an absolute path. Default: `.local/share/castellan` in the user's home directory. */
  home?: string;
  /** The program `castellan`, an absolute path, which starts a missing daemon. Default: the places of an installation. */
  castellan?: string;
  /**
   * Asks a person about a call that castellan neither denies nor allows. Without it such a call is denied when the SDK asks.
   * It must not change the input, and it never sees a call that castellan denies.
   */
  askPerson?: (question: PersonQuestion) => Promise<PermissionResult>;
}

/** A call for a person. */
export interface PersonQuestion {
  toolName: string;
  input: Record<string, unknown>;
  /** `ask`: castellan wants a person to decide. `defer`: castellan has no objection, and the agent's own permissions ask. */
  verdict: 'ask' | 'defer';
  /** castellan's reason; empty for `defer`. */
  reason: string;
  /** The SDK's own data about the question. */
  context: Parameters<CanUseTool>[2];
}

/** Pass both to `query`. The callback denies each call that the hooks have not asked about. */
export interface Guard {
  hooks: Partial<Record<GuardedEvent, HookCallbackMatcher[]>>;
  canUseTool: CanUseTool;
}

/** Events that the daemon reads. All but `PreToolUse` keep its memory of the session right. */
export type GuardedEvent = (typeof EVENTS)[number];

const EVENTS = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'UserPromptSubmit',
  'SessionStart',
  'SessionEnd',
  'SubagentStop',
] as const;

const AGENT = 'claude';

/** Returns hooks and a permission callback for one or more queries. */
export function createGuard(options: GuardOptions = {}): Guard {
  const daemon = new Daemon(new Home(options.home), findProgram(options.castellan));
  const asking = new Asking(daemon, options.askPerson);
  const matcher = (hook: HookCallback): HookCallbackMatcher[] => [
    { hooks: [hook], timeout: HOOK_TIMEOUT_S, onFailure: 'block' },
  ];
  const hooks = Object.fromEntries(
    EVENTS.map((event) => [event, matcher(event === 'PreToolUse' ? asking.question : asking.report)]),
  );
  return { hooks, canUseTool: asking.permission };
}

/** A call that the hook has asked about. */
interface Asked {
  payload: PreToolUseHookInput;
  answer: Answer;
}

class Asking {
  readonly #daemon: Daemon;
  readonly #askPerson: GuardOptions['askPerson'];
  /** By the id of the call, the oldest first. */
  readonly #asked = new Map<string, Asked>();

  constructor(daemon: Daemon, askPerson: GuardOptions['askPerson']) {
    this.#daemon = daemon;
    this.#askPerson = askPerson;
  }

  /** The hook before a call. */
  readonly question: HookCallback = async (input, _id, { signal }) => {
    const payload = input as PreToolUseHookInput;
    const answer = await this.#answer(payload, signal);
    this.#remember({ payload, answer });
    const note = answer.note === '' ? {} : { systemMessage: answer.note };
    if (answer.verdict === 'defer') {
      return note;
    }
    return {
      ...note,
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: answer.verdict,
        permissionDecisionReason: answer.reason,
      },
    };
  };

  /** The hooks of other events. No call depends on their answers. */
  readonly report: HookCallback = async (input, _id, { signal }): Promise<HookJSONOutput> => {
    if ('tool_use_id' in input && typeof input.tool_use_id === 'string') {
      this.#asked.delete(input.tool_use_id);
    }
    const ms = input.hook_event_name === 'SessionEnd' ? SESSION_END_MS : EVENT_MS;
    try {
      await this.#send(input.hook_event_name, input, ms, signal);
    } catch {
      // The note of the gap is written; the next call is denied if the daemon is still missing.
    }
    return {};
  };

  /** The SDK's permission callback: castellan's second question, then a person. */
  readonly permission: CanUseTool = async (toolName, input, context) => {
    const denied = (message: string): PermissionResult => ({ behavior: 'deny', message });
    try {
      const asked = this.#asked.get(context.toolUseID);
      if (asked === undefined) {
        throw new Failure('unasked');
      }
      const answer = await this.#again(asked, toolName, input, context.signal);
      if (answer.verdict === 'deny') {
        return denied(answer.reason);
      }
      if (this.#askPerson === undefined) {
        return denied(answer.verdict === 'ask' ? answer.reason : NOBODY);
      }
      const verdict = answer.verdict === 'ask' ? 'ask' : 'defer';
      const question = { toolName, input: structuredClone(input), verdict, reason: answer.reason, context } as const;
      return personsAnswer(await this.#askPerson(question), input);
    } catch (thrown) {
      return denied(asFailure(thrown).message);
    }
  };

  /** Asks for the second time. An input that another hook has changed since is a new question. */
  async #again(asked: Asked, tool_name: string, tool_input: unknown, signal: AbortSignal): Promise<Answer> {
    const { payload, answer } = asked;
    const isSame = payload.tool_name === tool_name && isEqual(payload.tool_input, tool_input);
    if (!isSame) {
      return this.#answer({ ...payload, tool_name, tool_input }, signal);
    }
    const { tool_use_id: _, ...rest } = payload;
    const again = { ...rest, hook_event_name: 'PermissionRequest' };
    const second = readPermission(await this.#send('PermissionRequest', again, CALL_MS, signal));
    return second.verdict === 'deny' ? second : answer;
  }

  async #answer(payload: PreToolUseHookInput, signal: AbortSignal): Promise<Answer> {
    try {
      return readQuestion(await this.#send('PreToolUse', payload, CALL_MS, signal));
    } catch (thrown) {
      return { verdict: 'deny', reason: asFailure(thrown).message, note: '' };
    }
  }

  async #send(event: string, payload: unknown, ms: number, signal: AbortSignal): Promise<Reply> {
    try {
      const request = {
        agent: AGENT,
        event,
        parentPid: process.pid,
        cwd: workingDirectory(),
        payload: Buffer.from(JSON.stringify(payload)),
      };
      return await this.#daemon.ask(request, ms, signal);
    } catch (thrown) {
      const failure = asFailure(thrown);
      this.#daemon.home.noteGap(AGENT, event, failure);
      throw failure;
    }
  }

  #remember(asked: Asked): void {
    const id = asked.payload.tool_use_id;
    this.#asked.delete(id);
    if (this.#asked.size >= CALLS_MAX) {
      this.#asked.delete(this.#asked.keys().next().value as string);
    }
    this.#asked.set(id, asked);
  }
}

const NOBODY = 'castellan leaves this call to a person, and nobody can answer here. Tell the user';

/** Checks the answer of `askPerson`. A changed input was never judged, so it does not run. */
function personsAnswer(answer: PermissionResult, input: unknown): PermissionResult {
  if (answer?.behavior === 'deny' && typeof answer.message === 'string') {
    return answer;
  }
  if (answer?.behavior !== 'allow') {
    throw new Failure('internal');
  }
  if (answer.updatedInput !== undefined && !isEqual(answer.updatedInput, input)) {
    return { behavior: 'deny', message: 'castellan has not judged the changed input of this call. Tell the user' };
  }
  return { ...answer, updatedInput: input as Record<string, unknown> };
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function workingDirectory(): Buffer {
  try {
    return Buffer.from(process.cwd());
  } catch {
    return Buffer.alloc(0);
  }
}

/** The input type of the hooks, for callers that wrap them. */
export type { HookInput };
