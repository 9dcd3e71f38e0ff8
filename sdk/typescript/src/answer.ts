/** Meaning of the daemon's replies. Each reply that is not exactly one of the known forms is a failure, so it denies. */

import type { Reply } from './daemon.js';
import { Failure } from './failure.js';

/** The daemon's answer to a question about a call. */
export interface Answer {
  /** `defer` leaves the call to the agent's own permissions. */
  verdict: 'deny' | 'ask' | 'allow' | 'defer';
  /** The reason; empty only for `defer`. */
  reason: string;
  /** A note for the user, which the model does not read; may be empty. */
  note: string;
}

/** Reads the reply to the question before a call. Throws a `Failure`. */
export function readQuestion(reply: Reply): Answer {
  const denied = blocked(reply);
  if (denied !== undefined) {
    return denied;
  }
  const { output, note } = readOutput(reply.stdout, 'PreToolUse', ['permissionDecision', 'permissionDecisionReason']);
  if (output === undefined) {
    return { verdict: 'defer', reason: '', note };
  }
  const verdict = output['permissionDecision'];
  const reason = output['permissionDecisionReason'] ?? '';
  if ((verdict !== 'deny' && verdict !== 'ask' && verdict !== 'allow') || typeof reason !== 'string') {
    throw new Failure('protocol');
  }
  return { verdict, reason: reason || 'castellan gave no reason', note };
}

/** Reads the reply to the second question, at the agent's prompt. `defer` leaves the prompt to a person. */
export function readPermission(reply: Reply): Answer {
  const { output, note } = readOutput(reply.stdout, 'PermissionRequest', ['decision']);
  if (reply.exit !== 0) {
    throw new Failure('protocol');
  }
  if (output === undefined) {
    return { verdict: 'defer', reason: '', note };
  }
  const decision = output['decision'];
  const isDeny = isObject(decision) && decision['behavior'] === 'deny' && typeof decision['message'] === 'string';
  if (!isDeny) {
    throw new Failure('protocol');
  }
  return { verdict: 'deny', reason: decision['message'] as string, note };
}

/** Exit code 2 denies; the reason is on standard error. */
function blocked(reply: Reply): Answer | undefined {
  if (reply.exit === 2) {
    return { verdict: 'deny', reason: reply.stderr.trim() || 'castellan gave no reason', note: '' };
  }
  if (reply.exit !== 0) {
    throw new Failure('protocol');
  }
  return undefined;
}

/** Reads standard output: the decision for an event, and a note for the user. An unknown key is a failure. */
function readOutput(
  stdout: string,
  event: string,
  keys: string[],
): { output: Record<string, unknown> | undefined; note: string } {
  if (stdout.trim() === '') {
    return { output: undefined, note: '' };
  }
  let json: unknown;
  try {
    json = JSON.parse(stdout);
  } catch {
    throw new Failure('protocol');
  }
  if (!isObject(json) || !hasOnly(json, ['hookSpecificOutput', 'systemMessage'])) {
    throw new Failure('protocol');
  }
  const { hookSpecificOutput: output, systemMessage: note = '' } = json;
  if (typeof note !== 'string') {
    throw new Failure('protocol');
  }
  if (output === undefined) {
    return { output: undefined, note };
  }
  if (!isObject(output) || output['hookEventName'] !== event || !hasOnly(output, ['hookEventName', ...keys])) {
    throw new Failure('protocol');
  }
  return { output, note };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasOnly(object: Record<string, unknown>, keys: string[]): boolean {
  return Object.keys(object).every((key) => keys.includes(key));
}
