/**
 * The frames between this package and the daemon's hook socket, as `crates/wire` defines them. It must not know events or
 * verdicts.
 *
 * A frame is `CSTL`, a version, a kind, a length (little endian) and a body. A field is a length and its bytes.
 */

import { REPLY_BYTES_MAX } from './limits.js';

const MAGIC = Buffer.from('CSTL');
const VERSION = 1;
const HEADER_BYTES = 12;
const KINDS = { request: 1, reply: 2, hold: 3 } as const;

/** A frame from the daemon. */
export type Frame =
  | { kind: 'reply'; exit: number; stdout: Buffer; stderr: Buffer }
  /** The daemon waits for a person, for this many milliseconds at most. */
  | { kind: 'hold'; ms: number };

/** Bytes that are no frame, or not the expected one. */
export class ProtocolError extends Error {}

/** The message of a hook. */
export interface Request {
  agent: string;
  event: string;
  /** Process id of the agent. The daemon takes a sender with this id for the agent itself. */
  parentPid: number;
  /** Working directory, as bytes. */
  cwd: Buffer;
  payload: Buffer;
}

/** Returns the frame of a request. */
export function encodeRequest(request: Request): Buffer {
  const pid = Buffer.alloc(4);
  pid.writeUInt32LE(request.parentPid);
  const body = Buffer.concat([
    field(Buffer.from(request.agent)),
    field(Buffer.from(request.event)),
    pid,
    field(request.cwd),
    field(request.payload),
  ]);
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt16LE(VERSION, 4);
  header.writeUInt16LE(KINDS.request, 6);
  header.writeUInt32LE(body.length, 8);
  return Buffer.concat([header, body]);
}

/** Puts frames together from pieces of a stream. */
export class FrameReader {
  #pending = Buffer.alloc(0);

  /** Adds a piece and returns the frames that are now whole. Throws a `ProtocolError`; read no further then. */
  push(piece: Buffer): Frame[] {
    this.#pending = Buffer.concat([this.#pending, piece]);
    const frames: Frame[] = [];
    for (let frame = this.#take(); frame !== undefined; frame = this.#take()) {
      frames.push(frame);
    }
    return frames;
  }

  #take(): Frame | undefined {
    const start = this.#pending.subarray(0, MAGIC.length);
    if (!start.equals(MAGIC.subarray(0, start.length))) {
      throw new ProtocolError('no frame of castellan');
    }
    if (this.#pending.length < HEADER_BYTES) {
      return undefined;
    }
    if (this.#pending.readUInt16LE(4) !== VERSION) {
      throw new ProtocolError('another version of the protocol');
    }
    const kind = this.#pending.readUInt16LE(6);
    const bytes = this.#pending.readUInt32LE(8);
    // Checked before the body arrives, so that no announcement makes this process store more.
    if (bytes > REPLY_BYTES_MAX) {
      throw new ProtocolError('a frame that is too long');
    }
    if (this.#pending.length < HEADER_BYTES + bytes) {
      return undefined;
    }
    const body = this.#pending.subarray(HEADER_BYTES, HEADER_BYTES + bytes);
    this.#pending = this.#pending.subarray(HEADER_BYTES + bytes);
    return decode(kind, body);
  }
}

function decode(kind: number, body: Buffer): Frame {
  const rest = new Fields(body);
  let frame: Frame;
  if (kind === KINDS.reply) {
    frame = { kind: 'reply', exit: rest.byte(), stdout: rest.bytes(), stderr: rest.bytes() };
  } else if (kind === KINDS.hold) {
    frame = { kind: 'hold', ms: rest.u32() };
  } else {
    throw new ProtocolError(`a frame of the kind ${kind}`);
  }
  rest.end();
  return frame;
}

/** Reads the fields of a body in order. Each method throws a `ProtocolError` at the end of the body. */
class Fields {
  #rest: Buffer;

  constructor(body: Buffer) {
    this.#rest = body;
  }

  byte(): number {
    return this.#take(1).readUInt8();
  }

  u32(): number {
    return this.#take(4).readUInt32LE();
  }

  bytes(): Buffer {
    return this.#take(this.u32());
  }

  end(): void {
    if (this.#rest.length > 0) {
      throw new ProtocolError('a body with bytes at its end');
    }
  }

  #take(bytes: number): Buffer {
    if (this.#rest.length < bytes) {
      throw new ProtocolError('a body that ends too early');
    }
    const taken = this.#rest.subarray(0, bytes);
    this.#rest = this.#rest.subarray(bytes);
    return taken;
  }
}

function field(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, bytes]);
}
