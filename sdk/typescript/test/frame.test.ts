import assert from 'node:assert/strict';
import { test } from 'node:test';

import { FrameReader, ProtocolError, encodeRequest } from '../src/frame.js';
import { FRAMES } from './fake-daemon.js';

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');

test('a request has the bytes of the protocol', () => {
  const { agent, event, parent_pid: parentPid, cwd, payload, hex } = FRAMES.request;
  const frame = encodeRequest({ agent, event, parentPid, cwd: Buffer.from(cwd), payload: Buffer.from(payload) });
  assert.equal(frame.toString('hex'), hex);
});

test('replies and holds are read, whole and byte by byte', () => {
  for (const { hex, exit, stdout, stderr } of FRAMES.replies) {
    const expected = [{ kind: 'reply', exit, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) }];
    assert.deepEqual(new FrameReader().push(bytes(hex)), expected);
    const reader = new FrameReader();
    assert.deepEqual([...bytes(hex)].flatMap((byte) => reader.push(Buffer.from([byte]))), expected);
  }
  for (const { hex, ms } of FRAMES.holds) {
    assert.deepEqual(new FrameReader().push(bytes(hex + hex)), [{ kind: 'hold', ms }, { kind: 'hold', ms }]);
  }
});

test('malformed frames are rejected', () => {
  for (const { what, hex } of FRAMES.malformed) {
    assert.throws(() => new FrameReader().push(bytes(hex)), ProtocolError, what);
  }
});

test('the start of a frame is no frame yet', () => {
  for (const { hex } of FRAMES.replies) {
    assert.deepEqual(new FrameReader().push(bytes(hex).subarray(0, -1)), []);
  }
});
