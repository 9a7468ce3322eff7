import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { postJson } from '../../../tools/devnet/processes/json-rpc.js';

export interface RpcCall {
  method: string;
  params: unknown[];
}

type IdentifiedCall = RpcCall & { id: number };

/** The answer to the client: this body, a broken connection, only the beginning of an answer, or no answer. */
export type RpcReply = { status?: number; body: string } | 'broken' | 'unfinished' | 'silence';

/** Decides the answer to a call; `forward` passes it to the chain and resolves with the chain's answer. */
export type Interception = (call: RpcCall, forward: () => Promise<string>) => Promise<RpcReply> | RpcReply;

export interface RpcProxy {
  rpcUrl: string;
  /** Every call received, in order, unless the proxy was started to keep none. */
  calls: RpcCall[];
  /** From now on; `*` applies to every method without an interception of its own. */
  intercept(method: string, interception: Interception): void;
  /** Forwards everything again, and forgets the calls. */
  reset(): void;
  stop(): Promise<void>;
}

/** The body of a JSON-RPC error. */
export function refusal(code: number, message: string): RpcReply {
  return { body: JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } }) };
}

/**
 * For every method (`*`): answers each call that has a message with this error, also one of several in a request, and
 * passes the others to the chain.
 */
export function refuseCalls(targetUrl: string, messageFor: (call: RpcCall) => string | null): Interception {
  return async (call, forward) => {
    const asked = [call as IdentifiedCall | IdentifiedCall[]].flat();
    const messages = asked.map(messageFor);
    if (messages.every((message) => message === null)) return { body: await forward() };
    const answers = asked.map(async (each, index) => {
      const message = messages[index];
      if (message) return { jsonrpc: '2.0', id: each.id, error: { code: -32000, message } };
      return JSON.parse(await postJson(targetUrl, JSON.stringify(each))) as unknown;
    });
    const all = await Promise.all(answers);
    return { body: JSON.stringify(Array.isArray(call) ? all : all[0]) };
  };
}

/**
 * A proxy between a client and its RPC node that simulates the faults of networks and nodes.
 * @param path appended to its address, as providers append their API keys
 */
export async function startRpcProxy(targetUrl: string, path = '', keepsCalls = true): Promise<RpcProxy> {
  const interceptions = new Map<string, Interception>();
  const calls: RpcCall[] = [];
  const answer = async (request: IncomingMessage): Promise<RpcReply> => {
    const body = await text(request);
    const call = JSON.parse(body) as RpcCall;
    if (keepsCalls) calls.push(call);
    const forward = () => postJson(targetUrl, body);
    const interception = interceptions.get(call.method) ?? interceptions.get('*');
    return interception ? interception(call, forward) : { body: await forward() };
  };
  const server: Server = createServer((request, response) => {
    void answer(request).then(
      (reply) => {
        if (reply === 'silence') return;
        if (reply === 'broken') {
          response.destroy();
          return;
        }
        if (reply === 'unfinished') {
          response.writeHead(200, { 'content-type': 'application/json' }).write('{"jsonrpc":"2.0",');
          return;
        }
        response.writeHead(reply.status ?? 200, { 'content-type': 'application/json' }).end(reply.body);
      },
      () => response.destroy(),
    );
  });
  // Keeps idle connections open, so that none is closed just when a service sends a request on it.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    rpcUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    calls,
    intercept: (method, interception) => void interceptions.set(method, interception),
    reset: () => {
      interceptions.clear();
      calls.length = 0;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
