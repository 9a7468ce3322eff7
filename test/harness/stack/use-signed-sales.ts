import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createLaneId, Journal, type CrashPoint } from '@tollgate/journal';
import {
  payerOf,
  signedAmountOf,
  type SignedAuthorization,
  type SignedPayment,
  type TransferAuthorization,
} from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { presentV2, readChallenge } from '../../../apps/gateway/test/present-payments.js';
import { startChain, type Devnet, type DevnetAccount } from '../../../tools/devnet/chain/chain.js';
import { signAuthorization } from '../../../tools/devnet/chain/sign-authorization.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import type { ServiceApp } from '../../../tools/devnet/processes/service-process.js';
import { startStack, type Stack, type StackOptions } from '../../../tools/devnet/stack/stack.js';
import { startUpstream, type Upstream } from '../../flows/start-upstream.js';
import { startRpcProxy, type RpcProxy } from '../network/rpc-proxy.js';
import { readTransfersTo, type TokenTransferred } from '../payments/read-transfers.js';
import { waitFor } from '../retry.js';

export interface SignedSalesOptions {
  gateways?: number;
  verifiers?: number;
  relayers?: number;
  /** Services that run with crash points, at which they can be killed. */
  fromSource?: readonly ServiceApp[];
  env?: NodeJS.ProcessEnv;
  /** With a bookkeeper, and an agent worker that sends refunds: see `startStack`. */
  book?: StackOptions['book'];
  serviceEnv?: StackOptions['serviceEnv'];
  /** Appended to the RPC server's address, as providers append their API keys. */
  rpcPath?: string;
}

/** A signed payment with the request that presents it: sent again, it is the same purchase. */
export interface Purchase {
  payment: SignedPayment;
  send(gateway?: number): Promise<Response>;
}

/**
 * Gateways that sell an upstream for signed payments, verifiers that settle them, and a chain that a test can make
 * fail.
 */
export interface SignedSales {
  stack: Stack;
  chain: Devnet;
  /** The verifiers reach the chain only through it. */
  proxy: RpcProxy;
  upstream: Upstream & { answer: Parameters<typeof startUpstream>[0] };
  journal: Journal;
  /** The stack's Redis, with the data of the services. */
  redis: Redis;
  rpc: (method: string, params?: unknown[]) => Promise<unknown>;
  url(path: string, gateway?: number): string;
  sign(terms?: Partial<TransferAuthorization>, payer?: DevnetAccount): Promise<SignedAuthorization>;
  /** Presents the payment by x402 version 2, which repeats the challenge, so that a repeat finds its answer. */
  present(payment: SignedPayment, path?: string): Promise<Purchase>;
  /** Signed by a payer of the devnet over the price. */
  order(payer?: DevnetAccount, path?: string): Promise<Purchase>;
  /** The transfers to the recipient since the last call. */
  readNewTransfers(): Promise<TokenTransferred[]>;
  /** The next process that reaches this point sends itself the signal there. */
  crashAt(point: CrashPoint, signal?: NodeJS.Signals): void;
  /** True until a process has reached the point. */
  isCrashPending(): boolean;
  stop(): Promise<void>;
}

export const PRICE = '1000';
const QUOTE = '/v1/quotes/A';
const ROUTES = `routes:
  - { path: /v1/quotes/:symbol, price: "0.001", timeoutMs: 20000, upstream: "\${UPSTREAM}" }
  - { path: /v1/first/:symbol, price: "0.001", settle: before, upstream: "\${UPSTREAM}" }
  - { path: /v1/streams/:symbol, price: "0.001", answer: streamed, upstream: "\${UPSTREAM}" }
`;
/** Short enough for a test; a real chain is polled less often. */
const QUICK = {
  SIGNED_PAYMENTS: 'true',
  SETTLE_DEADLINE_MS: '4000',
  // Long enough to verify a valid payment on a busy machine.
  VERIFY_DEADLINE_MS: '10000',
  VERIFY_RETRY_MS: '1000',
  LEASE_MS: '1000',
  RELAYER_POLL_MS: '50',
  RELAYER_LEASE_MS: '1000',
  RELAYER_RESEND_AFTER_MS: '500',
  RPC_TIMEOUT_MS: '4000',
};
const START_WITHIN_MS = 120_000;
const HOOK = './test/harness/stack/crash-hook.ts';

/** For all tests of a describe: started before the first, stopped after the last. */
export function useSignedSales(options: SignedSalesOptions = {}): () => SignedSales {
  let sales: SignedSales | undefined;
  beforeAll(async () => {
    sales = await startSignedSales(options);
  }, START_WITHIN_MS);
  afterAll(async () => {
    const { hasFailedTest } = globalThis as { hasFailedTest?: boolean };
    if (hasFailedTest && sales) process.stderr.write(`\nA test failed. The last lines:\n${sales.stack.logs()}\n`);
    await sales?.stop();
  }, START_WITHIN_MS);
  return () => {
    if (!sales) throw new Error('the sales are there in tests and hooks, not while they are declared');
    return sales;
  };
}

/** For a caller that stops it. */
export async function startSignedSales(options: SignedSalesOptions): Promise<SignedSales> {
  const { gateways = 1, verifiers = 1, relayers = 1, fromSource = [], env, book, serviceEnv, rpcPath = '' } = options;
  const folder = mkdtempSync(join(tmpdir(), 'signed-sales-'));
  writeFileSync(join(folder, 'routes.yaml'), ROUTES);
  const chain = await startChain();
  const proxy = await startRpcProxy(chain.rpcUrl, rpcPath, false);
  const upstream = await startUpstream((request, response) => {
    const sold = { sold: request.url, to: request.headers['idempotency-key'] };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(sold));
  });
  const stopOthers = async () => {
    await upstream.stop();
    await proxy.stop();
    await chain.stop();
    rmSync(folder, { recursive: true });
  };
  const stack = await startStack({
    chain,
    gateways,
    verifiers,
    relayers,
    ...(book && { book, agentWorkers: 1, agentWallets: { refunds: {} } }),
    ...(serviceEnv && { serviceEnv }),
    preload: Object.fromEntries(fromSource.map((app) => [app, HOOK])),
    env: {
      ...QUICK,
      RPC_URL: proxy.rpcUrl,
      ROUTES_FILE: join(folder, 'routes.yaml'),
      WEATHER_SOURCE: 'sample',
      UPSTREAM: upstream.url,
      CRASH_POINT_FILE: join(folder, 'point'),
      FACILITATOR_PAY_TO: chain.payTo,
      ...env,
    },
  }).catch(async (error: unknown) => {
    await stopOthers();
    throw error;
  });
  const redis = new Redis(stack.redis.url);
  redis.on('error', () => undefined);
  let nextBlock = 0;
  const sales: SignedSales = {
    stack,
    chain,
    proxy,
    upstream,
    journal: new Journal({ redis, fleet: 'relayers', timeoutMs: 10_000 }),
    redis,
    rpc: (method, params) => callRpc(chain.rpcUrl, method, params),
    url: (path, gateway = 0) => stack.gateways[gateway]!.url + path,
    sign: (terms = {}, payer = chain.accounts[0]!) => signAuthorization(chain, payer, { value: PRICE, ...terms }),
    present: async (payment, path = QUOTE) => {
      const headers = presentV2(await readChallenge(sales.url(path)), payment);
      return { payment, send: (gateway) => fetch(sales.url(path, gateway), { headers }) };
    },
    order: async (payer, path) => sales.present(await sales.sign({}, payer), path),
    readNewTransfers: async () => {
      const { transfers, head } = await readTransfersTo(chain, chain.payTo, nextBlock);
      nextBlock = head + 1;
      return transfers;
    },
    crashAt: (point, signal = 'SIGKILL') => writeFileSync(join(folder, 'point'), `${point} ${signal}`),
    isCrashPending: () => existsSync(join(folder, 'point')),
    stop: async () => {
      proxy.reset();
      redis.disconnect();
      await stack.stop();
      await stopOthers();
    },
  };
  return sales;
}

/**
 * Asserts that the recipient got each of these payments once and nothing else since the last call, and that the
 * relayers have sent every transaction that has a nonce in their journal, without a gap.
 */
export async function expectPaidOnce(sales: SignedSales, payments: readonly SignedPayment[]): Promise<void> {
  const { chain, journal, rpc } = sales;
  for (const { address } of chain.relayers) {
    const lane = createLaneId(chain.chainId, address);
    await waitFor(`all that ${address} has sent is mined`, async () => {
      const { nextNonce, unminedSteps } = await journal.readLane(lane);
      const mined = Number(await rpc('eth_getTransactionCount', [address, 'latest']));
      return nextNonce === null || (unminedSteps === 0 && nextNonce === mined);
    });
  }
  const transfers = await sales.readNewTransfers();
  const named = transfers.map(({ from, amountBaseUnits, nonce }) => [from, amountBaseUnits, nonce].join(' '));
  expect(named.sort()).toEqual(payments.map(nameTransfer).sort());
}

function nameTransfer(payment: SignedPayment): string {
  const nonce = payment.kind === 'authorization' ? payment.authorization.nonce : null;
  return [payerOf(payment), signedAmountOf(payment), nonce].join(' ');
}
