import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ApiKeyStore } from '@tollgate/http';
import { Redis } from 'ioredis';
import type { Hex } from 'viem';

import { startChain, type Devnet, type DevnetAccount } from '../../../tools/devnet/chain/chain.js';
import { startHttpTap, type HttpTap } from '../../../tools/devnet/interop/http-tap.js';
import {
  startClient,
  startServer,
  type ClientName,
  type ClientOptions,
  type RunningClient,
  type ServerName,
} from '../../../tools/devnet/interop/start-published.js';
import type { Program } from '../../../tools/devnet/processes/start-program.js';
import { startStack, type Stack } from '../../../tools/devnet/stack/stack.js';
import { startUpstream, type Upstream } from '../../flows/start-upstream.js';
import { approvePermit2 } from '../../harness/chain/sign-permit.js';
import { startRpcProxy, type RpcProxy } from '../../harness/network/rpc-proxy.js';
import { isOurs, SCHEMES, type ChallengeForm, type Client, type Product } from '../matrix.js';

/**
 * The price of every route of the rig, in base units; for `/metered` it is the maximum, of which METERED is charged.
 */
export const PRICE = 1000n;
export const METERED = 400n;
export const COSTS: Readonly<Record<Product, bigint>> = { quote: PRICE, permit2: PRICE, metered: METERED };

const ROUTES = `routes:
  - { path: /quote, price: "0.001", upstream: "\${UPSTREAM}" }
  - { path: /broken, price: "0.001", upstream: "\${UPSTREAM}" }
  - { path: /metered, price: "0.001", upstream: "\${UPSTREAM}", metered: true }
  - { path: /revisited, price: "0.001", upstream: "\${UPSTREAM}", revisitSeconds: 600 }
`;

/** The challenge form that a client needs: clients of version 1 know only their own names of networks. */
export function formFor(client: Client): ChallengeForm {
  return client.protocol === 'x402 1' && !isOurs(client) ? 'v1-clients' : 'documented';
}

export interface Rig {
  stack: Stack;
  chain: Devnet;
  /** The verifier reaches the chain only through it. */
  rpc: RpcProxy;
  /** In front of each of the two gateways: clients connect to them, so that tests see what was sent. */
  taps: Record<ChallengeForm, HttpTap>;
  upstream: Upstream;
  /** The recipient of the middlewares' payments, and the headers that authenticate them at our facilitator. */
  seller: Hex;
  facilitatorHeaders: Record<string, string>;
  /** Returns the same client for the same arguments, with a payer of its own as long as accounts are left. */
  client(name: ClientName, options?: PayingOptions): Promise<PayingClient>;
  /** Returns the same server of a middleware each time, with our gateway as its facilitator, paid to the seller. */
  server(name: ServerName): Promise<Program>;
  stop(): Promise<void>;
}

/** `product` determines the offer that the client takes, and whether its payer approves Permit2; default: a quote. */
export type PayingOptions = Omit<ClientOptions, 'payer' | 'scheme' | 'transferMethod'> & { product?: Product };

export interface PayingClient {
  client: RunningClient;
  payer: DevnetAccount;
}

export interface RigOptions {
  /** Settings of every service; they override the rig's. */
  env?: NodeJS.ProcessEnv;
}

/** Starts one chain, one Redis, one verifier, a gateway for each form of the challenge, and clients on demand. */
export async function startRig(options: RigOptions = {}): Promise<Rig> {
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
      FACILITATOR: 'true',
      FACILITATOR_RATE_LIMIT_PER_MINUTE: '0',
      ...options.env,
    };
    const stack = keep(await startStack({ chain, env: { ...env, PUBLIC_URL: taps.documented.url } }));
    const second = keep(
      await startStack({
        chain,
        redis: stack.redis,
        verifiers: 0,
        relayers: 0,
        env: { ...env, PUBLIC_URL: taps['v1-clients'].url, CHALLENGE_FORM: 'v1-clients' },
      }),
    );
    taps.documented.forwardTo(stack.baseUrl);
    taps['v1-clients'].forwardTo(second.baseUrl);

    const clients = new Map<string, Promise<PayingClient>>();
    const start = async (name: ClientName, { product = 'quote', ...asked }: PayingOptions, index: number) => {
      const payer = chain.accounts[index % chain.accounts.length];
      if (!payer) throw new Error('the devnet has no accounts');
      if (product === 'quote') return { client: keep(await startClient(name, chain, { payer, ...asked })), payer };
      await approvePermit2(chain, { owner: payer.address });
      return { client: keep(await startClient(name, chain, { payer, ...SCHEMES[product], ...asked })), payer };
    };
    const seller = chain.bulkSenders[1] ?? chain.payTo;
    const facilitatorHeaders = { authorization: `Bearer ${await createSettlingKey(stack.redis.url)}` };
    const servers = new Map<ServerName, Promise<Program>>();
    const serve = async (name: ServerName) => {
      const facilitator = { facilitatorHeaders, facilitatorUrl: `${stack.baseUrl}/facilitator` };
      return keep(await startServer(name, chain, { payTo: seller, priceBaseUnits: PRICE, ...facilitator }));
    };
    return {
      stack,
      chain,
      rpc,
      taps,
      upstream,
      stop,
      seller,
      facilitatorHeaders,
      server: (name) => {
        const running = servers.get(name) ?? serve(name);
        servers.set(name, running);
        return running;
      },
      client: (name, asked = {}) => {
        const key = JSON.stringify([name, asked]);
        const running = clients.get(key) ?? start(name, asked, clients.size);
        clients.set(key, running);
        return running;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Every quote is different, so that a test can tell answers apart; `/broken` fails, and so does a request with
 * `?fails`.
 */
function startQuotes(): Promise<Upstream> {
  let made = 0;
  return startUpstream((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://upstream');
    const isBroken = pathname === '/broken' || searchParams.has('fails');
    const charge = pathname === '/metered' ? { 'tollgate-charge': '0.0004' } : {};
    response.writeHead(isBroken ? 500 : 200, { 'content-type': 'application/json', ...charge });
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
