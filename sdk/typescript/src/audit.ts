/** [`Attempt`]: a tool call that a locked-down agent has tried. Auditing never throws and never allows. */

import type { SDKMessage } from '@anthropic-ai/claude-agent-sdk';

import { AUDIT_INPUT_UNITS_MAX } from './limits.js';

/** An attempt. More than one layer may see the same attempt. */
export interface Attempt {
  /** Time as ISO 8601, UTC. */
  ts: string;
  /** The `source` of the lockdown: the part of the program that runs the agent. */
  source: string;
  /** The layer that saw it: the SDK's hook, the permission callback, or the stream of messages. */
  seenBy: 'hook' | 'permission' | 'message';
  toolName: string;
  /** The model's id of the call; empty if unknown. */
  toolUseId: string;
  /** The input as text, at most 4096 UTF-16 units and a mark. */
  input: string;
}

/** Receives each attempt. An error in it is written to standard error; the call is denied all the same. */
export type Audit = (attempt: Attempt) => void | Promise<void>;

/** Sends an attempt to the audit. */
export async function record(audit: Audit, attempt: Omit<Attempt, 'ts' | 'input'>, input: unknown): Promise<void> {
  try {
    await audit({ ts: new Date().toISOString(), ...attempt, input: inputText(input) });
  } catch (error) {
    console.error(`castellan: an attempt of a locked-down agent could not be recorded: ${String(error)}`);
  }
}

/**
 * Passes the messages of a query on, and records each tool call in them. A call that the agent itself refuses, because it
 * has no such tool, reaches no callback; it is seen only here.
 */
export async function* audited<T extends SDKMessage>(
  messages: AsyncIterable<T>,
  { audit, source }: { audit: Audit; source: string },
): AsyncGenerator<T, void, undefined> {
  for await (const message of messages) {
    if (message.type === 'assistant') {
      const content: unknown = message.message?.content;
      for (const block of Array.isArray(content) ? content : []) {
        if (block?.type === 'tool_use') {
          const attempt = { source, seenBy: 'message', toolName: String(block.name), toolUseId: String(block.id) } as const;
          await record(audit, attempt, block.input);
        }
      }
    }
    yield message;
  }
}

function inputText(input: unknown): string {
  let text: string | undefined;
  try {
    text = typeof input === 'string' ? input : JSON.stringify(input);
  } catch {
    text = undefined;
  }
  if (text === undefined) {
    return '[UNSERIALIZABLE]';
  }
  return text.length <= AUDIT_INPUT_UNITS_MAX ? text : `${text.slice(0, AUDIT_INPUT_UNITS_MAX)}…[TRUNCATED]`;
}
