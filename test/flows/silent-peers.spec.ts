import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { parsePathPattern } from '../../apps/gateway/src/paywall/route/paid-path.js';
import type { ResourceRequest } from '../../apps/gateway/src/paywall/route/paid-route.js';
import { ProxyResource } from '../../apps/gateway/src/resources/proxy/proxy-resource.js';
import { PublicPaths } from '../../apps/gateway/src/resources/proxy/public-paths.js';
import { UpstreamPath } from '../../apps/gateway/src/resources/proxy/upstream-path.js';
import { OpenMeteo } from '../../apps/gateway/src/resources/weather/open-meteo.js';
import { RpcHttp } from '../../libs/chain/src/rpc/rpc-http.js';
import { createSafeFetch } from '../../libs/http/src/safe-fetch.js';
import { Chain } from '../../libs/journal/src/chain/chain.js';
import { startDeafServer, startSilentServer, type SilentServer } from '../harness/network/silent-server.js';

const TIMEOUT_MS = 3_000;
/** undici would wait this long for a connection. */
const CONNECT_MS = 10_000;

/** A part of ours that reads an HTTP answer. `read` fails at its time limit or at the signal. */
interface Reader {
  read(signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

const paidRequest = (signal: AbortSignal): ResourceRequest => ({
  method: 'GET',
  path: '/q/SEI',
  query: '',
  sent: { path: '/q/SEI', params: { symbol: 'SEI' } },
  headers: {},
  body: null,
  idempotencyKey: 'key',
  requestId: 'req-1',
  clientAddress: '203.0.113.9',
  verification: { isValid: true, txHash: '0x00' },
  signal,
});

function startProxy(origin: string, answer: 'stored' | 'streamed'): Reader {
  const resource = new ProxyResource({
    origin,
    path: new UpstreamPath(parsePathPattern('/q/:symbol'), '/'),
    answer,
    timeoutMs: TIMEOUT_MS,
    headers: { added: [], passCredentials: false },
    maxStoredAnswerBytes: 1_000,
    publicPaths: new PublicPaths(undefined),
  });
  return {
    read: async (signal) => buffer((await resource.produce(paidRequest(signal))).body as Readable),
    close: () => resource.close(),
  };
}

function startSafeFetch(): ReturnType<typeof createSafeFetch> {
  return createSafeFetch({ allowPrivateTargets: true, timeoutMs: TIMEOUT_MS, maxResponseBytes: 1_000 });
}

const TIMED: Record<string, (url: string) => Reader> = {
  'safe fetch': (url) => {
    const safe = startSafeFetch();
    return { read: async () => (await safe.fetch(url)).text(), close: () => safe.close() };
  },
  'the verifier’s RPC client': (url) => {
    const rpc = new RpcHttp({ url, connections: 1 });
    return { read: () => rpc.post('{}', { timeoutMs: TIMEOUT_MS, maxBytes: 1_000 }), close: () => rpc.close() };
  },
  'the journal’s RPC client': (url) => {
    const chain = new Chain({ chainId: 1, rpcUrls: [url], timeoutMs: TIMEOUT_MS });
    return { read: () => chain.readBalance('0x00'), close: () => chain.close() };
  },
  'the proxy of a stored route': (url) => startProxy(url, 'stored'),
  'the proxy of a streamed route': (url) => startProxy(url, 'streamed'),
  'the weather service’s client': (url) => {
    const meteo = new OpenMeteo({ latitude: 1, longitude: 1, url, timeoutMs: TIMEOUT_MS });
    return { read: () => meteo.read(0), close: () => meteo.close() };
  },
};

const ABORTED: Record<string, (url: string) => Reader> = {
  'safe fetch': (url) => {
    const safe = startSafeFetch();
    return { read: async (signal) => (await safe.fetch(url, { signal })).text(), close: () => safe.close() };
  },
  'the proxy of a stored route': (url) => startProxy(url, 'stored'),
  'the proxy of a streamed route': (url) => startProxy(url, 'streamed'),
};

/** Weak links between a signal and the work that it aborts are garbage-collected before the signal is needed. */
describe('a server that falls silent in its answer', () => {
  let server: SilentServer;
  let reader: Reader;

  beforeEach(async () => {
    server = await startSilentServer();
  });
  afterEach(async () => {
    await reader.close();
    await server.stop();
  });

  it.each(Object.keys(TIMED))('is given up at the time limit: %s', async (name) => {
    reader = TIMED[name]!(server.url);
    const ended = expect(reader.read(new AbortController().signal)).rejects.toThrow();
    await server.asked();
    await ended;
    await server.closed(0);
  });

  it.each(Object.keys(ABORTED))('is given up when its answer is no longer needed: %s', async (name) => {
    reader = ABORTED[name]!(server.url);
    const stop = new AbortController();
    const ended = expect(reader.read(stop.signal)).rejects.toThrow();
    await server.asked();
    stop.abort();
    await ended;
    await server.closed(0);
  });
});

describe('a server with which no connection comes about', () => {
  it.each(Object.keys(TIMED))('is given up at the time limit, by requests that wait too: %s', async (name) => {
    const server = await startDeafServer();
    const reader = TIMED[name]!(server.url);
    const reads = [1, 2, 3].map(() => reader.read(new AbortController().signal));
    const tooLate = sleep(CONNECT_MS - 1_000, [], { ref: false });
    const outcomes = await Promise.race([Promise.allSettled(reads), tooLate]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await reader.close();
    await server.stop();
  });
});
