/** castellan for programs that embed an agent through the Claude Agent SDK. The README describes both parts. */

export { audited, type Attempt, type Audit } from './audit.js';
export { createGuard, type Guard, type GuardOptions, type GuardedEvent, type PersonQuestion } from './guard.js';
export { DENIED_TOOLS, hardenedOptions, type HardenedInput } from './lockdown.js';
