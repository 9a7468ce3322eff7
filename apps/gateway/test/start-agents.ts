import { randomBytes } from 'node:crypto';

import { WalletDirectory } from '@tollgate/agent-jobs';
import { ApiKeyStore, type ApiKeyScope } from '@tollgate/http';
import { createLaneId, Journal, type LaneId } from '@tollgate/journal';
import type { AgentJobView } from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { borrowRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import { startGateway, type RunningGateway } from './start-gateway.js';

/** A token and the id of its key. */
export interface TestKey {
  readonly id: string;
  readonly token: string;
}

/** A gateway with a journal and the wallet `main`, and no worker: jobs stay as they were accepted. */
export class AgentsFixture {
  private constructor(
    readonly server: BorrowedRedis,
    readonly redis: Redis,
    readonly journal: Journal,
    readonly keys: ApiKeyStore,
    readonly lane: LaneId,
    readonly gateway: RunningGateway,
  ) {}

  /** @param own a Redis that the test kills */
  static async start(env: Record<string, string> = {}, own?: BorrowedRedis): Promise<AgentsFixture> {
    const server = own ?? (await borrowRedis());
    const redis = new Redis(server.url);
    redis.on('error', () => undefined);
    const journal = new Journal({ redis, timeoutMs: 30_000 });
    await journal.open();
    const lane = createLaneId(1328, `0x${randomBytes(20).toString('hex')}`);
    await journal.adopt(lane, { pendingNonce: 7 });
    await new WalletDirectory(redis).publish({ name: 'main', lane });
    const gateway = await startGateway(server.url, [], { EXPLORER_URL: 'https://explorer.example', ...env });
    return new AgentsFixture(server, redis, journal, new ApiKeyStore(redis), lane, gateway);
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    this.redis.disconnect();
    await this.server.stop();
  }

  /** Publishes the wallet's tokens, as a worker does. */
  async publishTokens(wallet = 'main'): Promise<void> {
    const usdc = {
      symbol: 'USDC',
      address: '0x4fCF1784B31630811181f670Aea7A7bEF803eaED',
      decimals: 6,
      names: ['usdc'],
    };
    const native = { symbol: 'SEI', address: '0x0', decimals: 18, names: ['sei', '0x0'] };
    await new WalletDirectory(this.redis).publishTokens(wallet, [native, usdc]);
  }

  async createKey(scopes: readonly ApiKeyScope[], wallets: readonly string[] = ['main']): Promise<TestKey> {
    const { key, token } = await this.keys.create({ name: 'test', scopes, wallets });
    return { id: key.id, token };
  }

  call(path: string, key: TestKey | null, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (key !== null) headers.set('Authorization', `Bearer ${key.token}`);
    return fetch(`${this.gateway.url}${path}`, { ...init, headers });
  }

  /** Sends a request with a JSON body; a string is sent unchanged. */
  post(path: string, key: TestKey | null, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.call(path, key, {
      method: 'POST',
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: text }),
    });
  }

  submit(key: TestKey | null, body: unknown = SAMPLE_JOB, idempotencyKey = createKeyText()): Promise<Response> {
    return this.post('/agent/jobs', key, body, { 'Idempotency-Key': idempotencyKey });
  }

  /** Submits a job that must be accepted. */
  async submitSample(key: TestKey, body: unknown = SAMPLE_JOB): Promise<AgentJobView> {
    const response = await this.submit(key, body);
    if (response.status !== 202) throw new Error(`not accepted: ${await response.text()}`);
    return (await response.json()) as AgentJobView;
  }
}

export const SAMPLE_JOB = {
  operation: 'transfer',
  wallet: 'main',
  input: { to: '0x00000000000000000000000000000000000A11cE', amount: '0.5' },
};

export function createKeyText(): string {
  return randomBytes(8).toString('hex');
}

/** The status and code of a problem response. */
export async function readProblem(response: Response): Promise<[status: number, code: string]> {
  const body = (await response.json()) as { status: number; code: string };
  if (!response.headers.get('content-type')?.startsWith('application/problem+json')) throw new Error('no problem');
  return [response.status, body.code];
}
