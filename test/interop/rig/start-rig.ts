import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ApiKeyStore } from '@tollgate/common';
import { Redis } from 'ioredis';
import type { Hex } from 'viem';

import { startChain, type Devnet, type DevnetAccount } from '../../../devnet/chain.js';
import { startHttpTap, type HttpTap } from '../../../devnet/interop/http-tap.js';
import {
  startClient,
  type ClientName,
  type ClientOptions,
  type RunningClient,
} from '../../../devnet/interop/start-client.js';
import { startStack, type Stack } from '../../../devnet/stack.js';
import { startUpstream, type Upstream } from '../../flows/start-upstream.js';
import { startRpcProxy, type RpcProxy } from '../../harness/rpc-proxy.js';
import type { ChallengeForm, Client } from '../matrix.js';

/** What every route of the rig costs, in base units. */
export const PRICE = 1000n;

const ROUTES = `routes:
  - { path: /quote, price: "0.001", upstream: "\${UPSTREAM}" }
  - { path: /broken, price: "0.001", upstream: "\${UPSTREAM}" }
`;

/** The form that a client needs: those of version 1 know no other network names than their own. */
export function formFor({ protocol, name }: Client): ChallengeForm {
  return protocol === 'x402 1' && name !== 'tollgate' ? 'v1-clients' : 'documented';
}

export interface Rig {
  stack: Stack;
  chain: Devnet;
  /** The verifier reaches the chain through it alone. */
  rpc: RpcProxy;
  /** Before each of the two gateways: clients go through them, so that tests see what was sent. */
  taps: Record<ChallengeForm, HttpTap>;
  upstream: Upstream;
  /** Whom the middlewares are paid for, and how they say to our facilitator who they are. */
  seller: Hex;
  facilitatorHeaders: Record<string, string>;
  /** The same client once, however often it is asked for, with a payer of its own while there are some. */
  client(name: ClientName, options?: Omit<ClientOptions, 'payer'>): Promise<PayingClient>;
  stop(): Promise<void>;
}

export interface PayingClient {
  client: RunningClient;
  payer: DevnetAccount;
}

/** One chain, one Redis, one verifier, a gateway for each form of the challenge, and clients as they are asked for. */
export async function startRig(): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'interop-'));
  writeFileSync(join(folder, 'routes.yaml'), ROUTES);
  const stops: (() => Promise<void>)[] = [async () => rmSync(folder, { recursive: true })];
  const keep = <Part extends { stop(): Promise<void> }>(part: Part): Part => {
    stops.unshift(() => part.stop());
    return part;
  };
  const stop = async () => {
    for (const stopPart of stops.splice(0)) await stopPart();
  };
  try {
    const chain = keep(await startChain());
    const rpc = keep(await startRpcProxy(chain.rpcUrl, '', false));
    const upstream = keep(await startQuotes());
    const taps = { documented: keep(await startHttpTap()), 'v1-clients': keep(await startHttpTap()) };
    const env = {
      ROUTES_FILE: join(folder, 'routes.yaml'),
      UPSTREAM: upstream.url,
      RPC_URL: rpc.rpcUrl,
      CHALLENGE_SECRET: randomBytes(32).toString('hex'),
      SIGNED_PAYMENTS: 'true',
      RELAYER_POLL_MS: '20',
      SETTLE_WAIT_MS: '1000',
      FACILITATOR: 'true',
      FACILITATOR_RATE_LIMIT_PER_MINUTE: '0',
    };
    const stack = keep(await startStack({ chain, env: { ...env, PUBLIC_URL: taps.documented.url } }));
    const second = keep(
      await startStack({
        ...{ chain, redis: stack.redis, verifiers: 0, relayers: 0 },
        env: { ...env, PUBLIC_URL: taps['v1-clients'].url, CHALLENGE_FORM: 'v1-clients' },
      }),
    );
    taps.documented.forwardTo(stack.baseUrl);
    taps['v1-clients'].forwardTo(second.baseUrl);

    const clients = new Map<string, Promise<PayingClient>>();
    const start = async (name: ClientName, options: Omit<ClientOptions, 'payer'>, index: number) => {
      const payer = chain.accounts[index % chain.accounts.length];
      if (!payer) throw new Error('the devnet has no accounts');
      return { client: keep(await startClient(name, chain, { payer, ...options })), payer };
    };
    return {
      ...{ stack, chain, rpc, taps, upstream, stop },
      seller: chain.bulkSenders[1] ?? chain.payTo,
      facilitatorHeaders: { authorization: `Bearer ${await createSettlingKey(stack.redis.url)}` },
      client: (name, options = {}) => {
        const key = JSON.stringify([name, options]);
        const running = clients.get(key) ?? start(name, options, clients.size);
        clients.set(key, running);
        return running;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Every quote is another, so that a test can tell one answer from the next; `/broken` fails. */
function startQuotes(): Promise<Upstream> {
  let made = 0;
  return startUpstream((request, response) => {
    const isBroken = request.url?.startsWith('/broken') ?? false;
    response.writeHead(isBroken ? 500 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isBroken ? { error: 'the handler failed' } : { symbol: 'SEI', made: ++made }));
  });
}

async function createSettlingKey(redisUrl: string): Promise<string> {
  const redis = new Redis(redisUrl);
  try {
    const { token } = await new ApiKeyStore(redis).create({ name: 'interop', scopes: ['settle'], wallets: [] });
    return token;
  } finally {
    redis.disconnect();
  }
}
