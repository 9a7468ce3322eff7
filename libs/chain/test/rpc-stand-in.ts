import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Hex } from '@tollgate/protocol';

import { postJson } from '../../../tools/devnet/processes/json-rpc.js';

export interface RpcAnswer {
  id: number;
  method: string;
  params: readonly unknown[];
  result?: unknown;
  error?: { code: number; message: string };
}

/** What the server does instead of passing on the upstream's answer. */
export type RpcFault =
  | { kind: 'status'; status: number }
  | { kind: 'delay'; ms: number }
  | { kind: 'hang' }
  | { kind: 'reset' }
  | { kind: 'body'; text: string }
  | { kind: 'truncate' }
  | { kind: 'flood'; bytes: number }
  /** Its newest block is this one, although it shows later transactions, as one of several servers behind a balancer. */
  | { kind: 'lag'; headBlockNumber: Hex }
  | { kind: 'rewrite'; rewrite: (answers: RpcAnswer[]) => unknown };

export interface RpcStandIn {
  url: string;
  host: string;
  /** The methods of each HTTP request so far. */
  requests: string[][];
  /** The transactions whose receipts were asked for so far. */
  receiptsOf: string[];
  /** Bytes of the last flood that were received. */
  floodedBytes: number;
  /** Bytes of the longest answer of the real server. */
  longestAnswer: number;
  /** Sets the fault from now on, or clears it with undefined. `times`: limits it to this many requests. */
  fail(fault: RpcFault | undefined, times?: number): void;
  stop(): Promise<void>;
}

interface Call {
  id: number;
  method: string;
  params: unknown[];
}

/** An RPC server on a free port that forwards to the real one, counts, and fails on command. */
export async function startRpcStandIn(upstreamUrl: string): Promise<RpcStandIn> {
  let fault: RpcFault | undefined;
  let faultsLeft = 0;
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const calls = JSON.parse(body) as Call[];
    standIn.requests.push(calls.map(({ method }) => method));
    for (const { method, params } of calls) {
      if (method === 'eth_getTransactionReceipt') standIn.receiptsOf.push(String(params[0]));
    }
    const now = faultsLeft > 0 ? fault : undefined;
    faultsLeft--;
    switch (now?.kind) {
      case 'status':
        response.writeHead(now.status).end('no');
        return;
      case 'hang':
        return;
      case 'reset':
        request.socket.resetAndDestroy();
        return;
      case 'body':
        response.end(now.text);
        return;
      case 'flood':
        await flood(response, now.bytes);
        return;
      case 'delay':
        await new Promise((resolve) => setTimeout(resolve, now.ms));
        break;
      default:
        break;
    }
    const asked = now?.kind === 'lag' ? body.replaceAll('"latest"', `"${now.headBlockNumber}"`) : body;
    const text = await postJson(upstreamUrl, asked);
    standIn.longestAnswer = Math.max(standIn.longestAnswer, text.length);
    if (now?.kind === 'truncate') response.end(text.slice(0, text.length / 2));
    else if (now?.kind === 'rewrite') response.end(JSON.stringify(now.rewrite(withMethods(text, calls))));
    else if (now?.kind === 'lag') response.end(JSON.stringify(withHead(withMethods(text, calls), now.headBlockNumber)));
    else response.end(text);
  }

  async function flood(response: ServerResponse, bytes: number): Promise<void> {
    const chunk = Buffer.alloc(65_536, ' ');
    standIn.floodedBytes = 0;
    while (standIn.floodedBytes < bytes && !response.destroyed) {
      standIn.floodedBytes += chunk.length;
      if (!response.write(chunk)) {
        await new Promise<void>((resolve) => {
          response.removeAllListeners('drain').removeAllListeners('close');
          response.once('drain', resolve).once('close', resolve);
        });
      }
    }
    response.end('[]');
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const standIn: RpcStandIn = {
    url: `http://${host}`,
    host,
    requests: [],
    receiptsOf: [],
    floodedBytes: 0,
    longestAnswer: 0,
    fail: (next, times = Number.POSITIVE_INFINITY) => {
      fault = next;
      faultsLeft = next === undefined ? 0 : times;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return standIn;
}

function withMethods(text: string, calls: Call[]): RpcAnswer[] {
  const answers = JSON.parse(text) as RpcAnswer[];
  return answers.map((answer) => {
    const { method = '', params = [] } = calls.find(({ id }) => id === answer.id) ?? {};
    return { ...answer, method, params };
  });
}

function withHead(answers: readonly RpcAnswer[], headBlockNumber: Hex): RpcAnswer[] {
  return answers.map((answer) =>
    answer.method === 'eth_blockNumber' ? { ...answer, result: headBlockNumber } : answer,
  );
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Refuses calls at a block's number, as a server does that lags behind that block, or keeps the newest state only. */
export const REFUSED_NUMBERS: RpcFault = {
  kind: 'rewrite',
  rewrite: (answers) =>
    answers.map(({ result, ...answer }) => {
      const isAtNumber = answer.method === 'eth_call' && answer.params[1] !== 'latest';
      return isAtNumber ? { ...answer, error: { code: -32000, message: 'header not found' } } : { ...answer, result };
    }),
};

/** Changes every result of one method. */
export function changeResult(method: string, change: (result: never) => unknown): RpcFault {
  return {
    kind: 'rewrite',
    rewrite: (answers) =>
      answers.map((answer) =>
        answer.method === method ? { ...answer, result: change(answer.result as never) } : answer,
      ),
  };
}
