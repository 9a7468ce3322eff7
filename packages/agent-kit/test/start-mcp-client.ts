import { resolve } from 'node:path';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

export const MCP_PROGRAM = resolve('scripts/run/mcp.mjs');

/**
 * A client that starts a server of its own, with only the given environment variables.
 * @param answer the person's answer when asked; if omitted, the client cannot ask.
 */
export async function startMcpClient(args: string[], env: Record<string, string>, answer?: 'accept' | 'decline') {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MCP_PROGRAM, ...args],
    env,
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk) => (stderr += String(chunk)));
  const client = new Client({ name: 'spec', version: '1' }, { capabilities: answer ? { elicitation: {} } : {} });
  const faults: Error[] = [];
  client.onerror = (error) => faults.push(error);
  const asked: string[] = [];
  if (answer) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message);
      return { action: answer, ...(answer === 'accept' ? { content: { confirm: true } } : {}) };
    });
  }
  await client.connect(transport);
  return { client, asked, faults, stderr: () => stderr };
}
