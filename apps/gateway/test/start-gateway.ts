import { randomBytes } from 'node:crypto';
import { request as startRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { REDIS_LOGGER } from '@tollgate/common';
import { readEnvironment } from '@tollgate/config';
import { Ledger } from '@tollgate/ledger';
import { encodeProof, type Hex } from '@tollgate/protocol';
import { connectRedis } from '@tollgate/redis';
import {
  COMPARE_SETTINGS,
  RequestReplyServer,
  VERIFY_LOCK,
  VERIFY_PAYMENT,
  queueOfChain,
  VERIFY_QUEUE,
  type VerifyLockRequest,
  type VerifyPaymentRequest,
  type VerifyPaymentVerdict,
} from '@tollgate/transport';

import { GatewayEnvironment } from '../src/config/gateway.config.js';
import { createGateway } from '../src/create-gateway.js';
import type { PaidRoute, ProducedAnswer, ResourceRequest } from '../src/paywall/route/paid-route.js';

export const PAY_TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const ASSET = '0x4fCF1784B31630811181f670Aea7A7bEF803eaED';
export const SECRET = 'a-secret-of-more-than-thirty-two-characters';

export interface RunningGateway {
  readonly url: string;
  readonly port: number;
  readonly app: NestFastifyApplication;
  stop(): Promise<void>;
}

/** Starts a gateway in this process, on a free port, for tests of what a client sees. */
export async function startGateway(
  redisUrl: string,
  routes: readonly PaidRoute[],
  env: Record<string, string> = {},
): Promise<RunningGateway> {
  const environment = readEnvironment(GatewayEnvironment, {
    CHALLENGE_SECRET: SECRET,
    ...(env['PAYMENTS_FILE'] === undefined && { PAY_TO, ASSET_ADDRESS: ASSET }),
    REDIS_URL: redisUrl,
    QUEUE_REDIS_URL: redisUrl,
    LOG_LEVEL: 'silent',
    DRAIN_MS: '0',
    ...env,
  });
  const app = await createGateway(environment, routes);
  await app.listen(0, environment.server.host);
  const { port } = app.getHttpServer().address() as AddressInfo;
  const scheme = environment.server.tlsCert === undefined ? 'http' : 'https';
  return { url: `${scheme}://127.0.0.1:${port}`, port, app, stop: () => app.close() };
}

export function createRoute(
  produce: (request: ResourceRequest) => Promise<ProducedAnswer> | ProducedAnswer,
  changes: Partial<PaidRoute> = {},
): PaidRoute {
  return {
    path: '/api/weather',
    methods: ['GET'],
    price: '0.001',
    description: 'The weather',
    mimeType: 'application/json',
    answer: 'stored',
    chargeOn: '<400',
    settle: 'after',
    resource: { produce: async (request) => produce(request) },
    ...changes,
  };
}

export function answerJson(value: unknown, status = 200): ProducedAnswer {
  return { status, headers: [['content-type', 'application/json']], body: Buffer.from(JSON.stringify(value)) };
}

export type Judgement = (request: VerifyPaymentRequest) => Promise<VerifyPaymentVerdict> | VerifyPaymentVerdict;

export interface LedgerVerifier {
  /** Every question that was received. */
  readonly questions: VerifyPaymentRequest[];
  /** The verdicts by transaction; a transaction without one counts as a payment and is claimed. */
  readonly judgements: Map<string, Judgement>;
  /** The lock under which each transaction has paid. */
  readonly locked: Map<string, Hex>;
  readonly lockQuestions: VerifyLockRequest[];
  readonly ledger: Ledger;
  claim: Judgement;
  stop(): Promise<void>;
}

/**
 * A verifier without a chain: it uses the real transport and ledger, and treats every transaction as a payment of the
 * requested price unless a test overrides it.
 */
export async function startLedgerVerifier(redisUrl: string, chainId = 1328): Promise<LedgerVerifier> {
  const redis = connectRedis({ url: redisUrl, role: 'test-verifier', logger: REDIS_LOGGER });
  const ledger = new Ledger({ redis, chainIds: [chainId], timeoutMs: 30_000 });
  await ledger.open({ chainId, blockNumber: 1 });
  // Questions that a test leaves unanswered must not delay the stop.
  const server = new RequestReplyServer({ redisUrl, queue: queueOfChain(VERIFY_QUEUE, chainId), closeTimeoutMs: 100 });
  const questions: VerifyPaymentRequest[] = [];
  const judgements = new Map<string, Judgement>();
  const claim: Judgement = (request) => claimTransfer(ledger, request);
  const [locked, lockQuestions] = [new Map<string, Hex>(), [] as VerifyLockRequest[]];
  agree(server);
  server.addHandler(VERIFY_LOCK, async (request: VerifyLockRequest) => {
    lockQuestions.push(request);
    return { outcome: locked.get(request.txHash) === request.lock ? 'paid' : 'not_paid' };
  });
  server.addHandler(VERIFY_PAYMENT, async (request: VerifyPaymentRequest) => {
    questions.push(request);
    return (judgements.get(request.txHash) ?? claim)(request);
  });
  await listen(server);
  const stop = async (): Promise<void> => {
    await server.close();
    redis.disconnect();
  };
  return { questions, judgements, locked, lockQuestions, ledger, claim, stop };
}

/** Tells gateways that the settings agree, so that their options are offered. */
export function agree(server: RequestReplyServer): void {
  server.addHandler(COMPARE_SETTINGS, () => Promise.resolve({ outcome: 'agreed' }));
}

export async function listen(server: RequestReplyServer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    void server.listen((error) =>
      error === undefined ? resolve() : reject(new Error('The transport did not start.', { cause: error })),
    );
  });
}

/** A verifier that agrees with every gateway of this chain, and judges nothing. */
export async function startAgreeingVerifier(redisUrl: string, chainId = 1328): Promise<() => Promise<void>> {
  const server = new RequestReplyServer({ redisUrl, queue: queueOfChain(VERIFY_QUEUE, chainId), closeTimeoutMs: 100 });
  agree(server);
  await listen(server);
  return () => Promise.resolve(server.close());
}

async function claimTransfer(ledger: Ledger, request: VerifyPaymentRequest): Promise<VerifyPaymentVerdict> {
  const { chainId, txHash, owner, fingerprint, retryKey, keyReserves, leaseMs, deadlineMs } = request;
  const result = await ledger.claim({
    candidates: [
      {
        id: { kind: 'transfer', chainId, txHash, logIndex: 0 },
        blockNumber: 1_000_000,
        minedAtMs: ledger.nowMs() + 60_000,
        windowMs: 900_000,
      },
    ],
    owner,
    fingerprint,
    retryKey,
    ...(keyReserves === false && { keyReserves }),
    leaseMs,
    deadlineMs,
    headBlockNumber: 1,
  });
  switch (result.outcome) {
    case 'claimed':
      return { outcome: 'claimed', lease: result.lease, bound: false, payer: PAY_TO };
    case 'used':
      return { outcome: 'refused', failure: 'payment_used' };
    case 'late':
      return { outcome: 'unavailable', reason: 'late' };
    case 'refused':
      return { outcome: 'refused', failure: result.failure };
    default:
      return result;
  }
}

export function createTxHash(): Hex {
  return `0x${randomBytes(32).toString('hex')}`;
}

export function proofFor(txHash: Hex, payload: { reference?: string } = {}): string {
  return encodeProof({ x402Version: 1, scheme: 'exact', network: 'chain-testnet', payload: { txHash, ...payload } });
}

/** Sends a request with a payment proof; for a new transaction unless one is given. */
export function pay(
  url: string,
  { txHash = createTxHash(), key, ...init }: RequestInit & { txHash?: Hex; key?: string } = {},
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('X-Payment', proofFor(txHash));
  if (key !== undefined) headers.set('Idempotency-Key', key);
  return fetch(url, { ...init, headers });
}

export interface SentAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request with an unchanged path: fetch would resolve dots and escapes. */
export function send(port: number, options: RequestOptions & { body?: string }): Promise<SentAnswer> {
  return new Promise((resolve, reject) => {
    const request = startRequest({ host: '127.0.0.1', port, agent: false, ...options }, (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        reject,
      );
    });
    request.once('error', reject);
    request.end(options.body);
  });
}
