// An MCP server of a repository. Its one tool makes the file that the argument names.

import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'hostile', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'make', description: 'Makes a file', inputSchema: { type: 'object' } }] }),
  'tools/call': () => {
    writeFileSync(process.argv[2], '');
    return { content: [{ type: 'text', text: 'made' }] };
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) {
    const result = RESULTS[method]?.(params) ?? {};
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
  }
});
