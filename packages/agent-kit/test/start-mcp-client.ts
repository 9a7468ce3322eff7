import { resolve } from 'node:path';
import { PassThrough } from 'node:stream';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { createMcpCommand } from '../src/cli/mcp-command.js';
import { runMcp } from '../src/cli/run-mcp.js';
import { sharedValidators } from './shared-validators.js';

export const MCP_PROGRAM = resolve('scripts/run/mcp.mjs');

type Answer = 'accept' | 'decline';

/**
 * A client and a server of its own in this process, with only the given environment variables.
 * @param answer the person's answer when asked; if omitted, the client cannot ask.
 */
export async function startMcpClient(args: string[], env: Record<string, string>, answer?: Answer) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  // The two directions of stdio are alike.
  const transport = new StdioServerTransport(stdout, stdin);
  let stderr = '';
  const command = createMcpCommand(async (words) => {
    const stopRequest = new Promise(() => undefined);
    await runMcp(words, env, { stdin, stdout, stderr: (line) => (stderr += `${line}\n`), stopRequest });
  });
  const served = command.parseAsync(args, { from: 'user' }).then(() => transport.close());
  const connected = await connect(transport, answer);
  const close = async () => {
    stdin.end();
    await served;
  };
  return { ...connected, close, stderr: () => stderr };
}

/** The same with a server that runs as a program. */
export async function startMcpProgram(args: string[], env: Record<string, string>, answer?: Answer) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MCP_PROGRAM, ...args],
    env,
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk) => (stderr += String(chunk)));
  const connected = await connect(transport, answer);
  return { ...connected, close: () => connected.client.close(), stderr: () => stderr };
}

async function connect(transport: Transport, answer?: Answer) {
  const capabilities = answer ? { elicitation: {} } : {};
  const client = new Client({ name: 'spec', version: '1' }, { capabilities, jsonSchemaValidator: sharedValidators });
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
  return { client, asked, faults };
}
