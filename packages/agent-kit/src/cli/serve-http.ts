import { randomUUID, timingSafeEqual, createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

export interface HttpServing {
  /** 0: a free one. */
  readonly port: number;
  readonly host: string;
  /** Every request has it as bearer token. */
  readonly key: string;
  /** For one session each: a client that asks its person needs a server of its own. */
  readonly createServer: () => McpServer;
}

export interface ServedHttp {
  readonly url: string;
  /** Ends all sessions. */
  close(): Promise<void>;
}

const PATH = '/mcp';
/** More are refused until a client ends one. */
const MOST_SESSIONS = 100;
const SESSION_HEADER = 'mcp-session-id';

/** Serves MCP over streamable HTTP at `/mcp`, for clients that have the key. Rejects if the port is taken. */
export async function serveHttp({ port, host, key, createServer: create }: HttpServing): Promise<ServedHttp> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url?.split('?')[0] !== PATH) return refuse(response, 404, 'MCP is served at /mcp.');
    if (!hasKey(request, key)) {
      response.setHeader('WWW-Authenticate', 'Bearer');
      return refuse(response, 401, 'Send the key as bearer token.');
    }
    const id = request.headers[SESSION_HEADER];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (known === undefined && id !== undefined) return refuse(response, 404, 'There is no such session.');
    if (known !== undefined) return known.handleRequest(request, response);
    if (sessions.size >= MOST_SESSIONS) return refuse(response, 503, 'There are too many sessions.');
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (opened) => void sessions.set(opened, transport),
    });
    const server = create();
    transport.onclose = () => void (transport.sessionId !== undefined && sessions.delete(transport.sessionId));
    await server.connect(transport);
    await transport.handleRequest(request, response);
    // A request that opened no session.
    if (transport.sessionId === undefined) await server.close();
    return undefined;
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}${PATH}`,
    close: async () => {
      await Promise.allSettled([...sessions.values()].map((transport) => transport.close()));
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Compares digests, which takes the same time whatever is right of the key. */
function hasKey({ headers }: IncomingMessage, key: string): boolean {
  const given = /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1];
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(digest(given.trim()), digest(key));
}

/** As JSON-RPC has it for a request that is not read. */
function refuse(response: ServerResponse, status: number, message: string): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message } });
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
}
