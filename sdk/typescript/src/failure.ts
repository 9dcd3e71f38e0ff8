/** Reasons why the daemon could not be asked, with the texts of castellan's hook (`crates/hook/src/failure.rs`). */

/** A reason. The words are those of the record. */
export type FailureWord = keyof typeof TEXTS;

const TEXTS = {
  home: 'its home directory is missing or not private to this user',
  stopped: 'it is stopped, so every call is blocked',
  not_started: 'its daemon could not be started',
  unreachable: 'its daemon runs but cannot be reached',
  disconnected: 'its daemon broke off before it answered',
  protocol: 'its daemon answered in a way that this program does not understand',
  deadline: 'its daemon did not answer in time',
  input: 'the call cannot be sent to its daemon',
  aborted: 'the call was cancelled',
  unasked: 'its hook was not asked about the call first',
  internal: 'its library failed',
} as const;

/** The daemon could not be asked, or its answer is not valid. The message denies a call. */
export class Failure extends Error {
  readonly word: FailureWord;

  constructor(word: FailureWord) {
    // The text never explains how to get the call allowed. The remedy for a stopped castellan is the user's.
    const request = word === 'stopped' ? 'Tell the user to run: castellan start' : 'Tell the user';
    super(`castellan blocked this: ${TEXTS[word]}. ${request}`);
    this.word = word;
  }
}

/** Returns a thrown value as a failure. */
export function asFailure(thrown: unknown): Failure {
  return thrown instanceof Failure ? thrown : new Failure('internal');
}
