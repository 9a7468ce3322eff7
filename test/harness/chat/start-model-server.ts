import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { ModelReply, ModelRequest, ModelStandIn } from './model-replies.js';

/** Time for the client to read what was sent before the reset, as it has with a real server. */
const RESET_AFTER_MS = 100;

/** The events of an answer, in the API's own format; each is one write. */
export type WriteEvents = (reply: Exclude<ModelReply, { status: number } | { raw: string }>) => string[];

/**
 * A local server that answers like a model's API, with the replies in order or those that a function returns. A request
 * too many gets the status 500.
 */
export async function startModelServer(
  path: string,
  replies: readonly ModelReply[] | ((request: ModelRequest, number: number) => ModelReply),
  writeEvents: WriteEvents,
): Promise<ModelStandIn> {
  const requests: ModelRequest[] = [];
  let tellAbandoned = () => {};
  const abandoned = new Promise<void>((resolve) => (tellAbandoned = resolve));
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const seen = {
        path: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, unknown>,
      };
      requests.push(seen);
      response.on('close', () => {
        if (!response.writableFinished) tellAbandoned();
      });
      const reply = typeof replies === 'function' ? replies(seen, requests.length) : replies[requests.length - 1];
      answer(response, reply ?? { status: 500, body: 'the stand-in has no reply left' }, writeEvents);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    requests,
    abandoned,
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function answer(response: ServerResponse, reply: ModelReply, writeEvents: WriteEvents): void {
  if ('status' in reply) {
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers }).end(reply.body);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if ('raw' in reply) {
    response.end(reply.raw);
    return;
  }
  for (const event of writeEvents(reply)) response.write(event);
  if (reply.breaks === 'resets') setTimeout(() => response.destroy(), RESET_AFTER_MS);
  else if (!reply.hangs) response.end();
}
