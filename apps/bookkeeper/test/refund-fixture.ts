import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { WakeQueues, WalletDirectory } from '@tollgate/agent-jobs';
import { createLaneId, Journal, type LaneId } from '@tollgate/journal';
import {
  createFingerprint,
  createOwner,
  Ledger,
  nameOfPayment,
  type ClaimRequest,
  type Lease,
  type PaymentId,
} from '@tollgate/ledger';
import type { OperatorRefund } from '@tollgate/operator-api';
import type { Hex } from '@tollgate/protocol';
import { nameRefund } from '@tollgate/refunds';

import { NOT_READ } from '../../../libs/refunds/src/details.js';
import { runWorker } from '../../../test/harness/agents/run-worker.js';
import { waitFor } from '../../../test/harness/retry.js';
import { startChain, type Devnet } from '../../../tools/devnet/chain/chain.js';
import { readBalance } from '../../../tools/devnet/chain/read-balance.js';
import { transferTokens } from '../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { BookkeeperFixture } from './bookkeeper-fixture.js';

export const PRICE = 10_000n;
const FINGERPRINT = createFingerprint({ method: 'GET', path: '/', query: '' });

interface Answered<T> {
  status: number;
  body: T;
}

type TransferId = Extract<PaymentId, { kind: 'transfer' }>;

/** A chain, a ledger, a bookkeeper with its book, and an agent worker with the wallet of refunds. */
export class RefundFixture {
  #worker: { stop: () => Promise<unknown> } | null = null;
  #url: string | null = null;

  private constructor(
    readonly base: BookkeeperFixture,
    readonly chain: Devnet,
    readonly ledger: Ledger,
    readonly journal: Journal,
    readonly lane: LaneId,
    private readonly queue: WakeQueues,
    private readonly folder: string,
  ) {}

  static async start(): Promise<RefundFixture> {
    const [base, chain] = await Promise.all([BookkeeperFixture.start(), startChain()]);
    const { redis } = base;
    const [wallet] = chain.agentWallets;
    if (wallet === undefined) throw new Error('the devnet has no agent wallets');
    const lane = createLaneId(chain.chainId, wallet.address);
    const timeoutMs = 30_000;
    const ledger = new Ledger({ redis, chainIds: [1328], timeoutMs, book: { outboxLimit: 100_000 } });
    const journal = new Journal({ redis, timeoutMs });
    await ledger.open({ chainId: 1328, blockNumber: 0 });
    await journal.open();
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-refunds-'));
    writeFileSync(join(folder, 'key'), wallet.privateKey);
    const wallets = { refunds: { privateKeyFile: 'key' } };
    writeFileSync(join(folder, 'wallets.json'), JSON.stringify({ wallets }));
    const queue = new WakeQueues({ connection: redis, onTrouble: () => undefined });
    const fixture = new RefundFixture(base, chain, ledger, journal, lane, queue, folder);
    await fixture.adopt();
    return fixture;
  }

  /** Seeds the wallet's nonces from the chain, as an operator does. */
  async adopt(): Promise<void> {
    const count = await callRpc(this.chain.rpcUrl, 'eth_getTransactionCount', [this.lane.address, 'pending']);
    await this.journal.adopt(this.lane, { pendingNonce: Number(count) });
  }

  async stop(): Promise<void> {
    await this.#worker?.stop();
    await this.queue.close();
    await this.base.stop();
    await this.chain.stop();
    rmSync(this.folder, { recursive: true });
  }

  /** The settings of a bookkeeper for this chain. */
  settings(more: Record<string, string> = {}): Record<string, string> {
    const { rpcUrl, chainId, asset, payTo } = this.chain;
    return { RPC_URL: rpcUrl, CHAIN_ID: String(chainId), ASSET_ADDRESS: asset, PAY_TO: payTo, ...more };
  }

  async startBookkeeper(more: Record<string, string> = {}): Promise<void> {
    this.#url = (await this.base.startBookkeeper(this.settings(more))).url;
  }

  /** In place of one in this process. */
  useBookkeeper(url: string): void {
    this.#url = url;
  }

  nameOf(id: PaymentId): string {
    return nameOfPayment(id);
  }

  /** The id of a payment's first refund. */
  refundOf(payment: string): string {
    return nameRefund(payment, 1);
  }

  /** Wakes every job of the wallet, which the worker else looks at every ten seconds. */
  async wakeAll(): Promise<void> {
    for (const jobId of await this.journal.readOpenJobs(this.lane)) await this.queue.wake(jobId, this.lane);
  }

  /** The settings of an agent worker that has the wallet. */
  workerSettings(): Record<string, string> {
    const { rpcUrl, chainId } = this.chain;
    return {
      REDIS_URL: this.base.server.url,
      BOOK: 'on',
      RPC_URL: rpcUrl,
      CHAIN_ID: String(chainId),
      WALLETS_FILE: join(this.folder, 'wallets.json'),
      LANE_POLL_MS: '50',
      AGENT_SECRET: 'a secret of the agent worker that is long enough',
    };
  }

  /** Waits until the worker has published the wallet. */
  async startWorker(): Promise<void> {
    this.#worker = await runWorker(this.workerSettings());
    await this.waitUntilPublished();
  }

  async waitUntilPublished(): Promise<void> {
    const directory = new WalletDirectory(this.base.redis);
    await waitFor('the wallet is published', async () => (await directory.find('refunds')) !== null);
  }

  async stopWorker(): Promise<void> {
    await this.#worker?.stop();
    this.#worker = null;
  }

  /** A transfer of the price to the seller; its payment. */
  async pay(from = this.payer, amountBaseUnits = PRICE): Promise<TransferId> {
    const txHash = await transferTokens(this.chain, { from, amountBaseUnits });
    return this.paymentOf(txHash);
  }

  /** The payment by a transaction whose first log is the transfer. */
  paymentOf(txHash: Hex): TransferId {
    return { kind: 'transfer', chainId: this.chain.chainId, txHash, logIndex: 0 };
  }

  /** Pays, and has the ledger refuse it, as a verifier does. Returns the payment's name once it is in the book. */
  async payRefused(): Promise<string> {
    const id = await this.pay();
    await this.refuse(id);
    return nameOfPayment(id);
  }

  async refuse(id: PaymentId, amountBaseUnits = PRICE): Promise<void> {
    await this.ledger.recordRefusal({ id, failure: 'payment_too_old', amountBaseUnits, payer: this.payer });
    await this.waitUntilBooked(nameOfPayment(id));
  }

  /** The claim of the only request that presents the payment. */
  claimRequest(id: PaymentId, headBlockNumber: number): ClaimRequest {
    const nowMs = this.ledger.nowMs();
    return {
      // As if it had been mined just now, in the newest block.
      candidates: [{ id, blockNumber: headBlockNumber, minedAtMs: nowMs, windowMs: 600_000 }],
      owner: createOwner(),
      fingerprint: FINGERPRINT,
      retryKey: null,
      leaseMs: 30_000,
      deadlineMs: nowMs + 10_000,
      headBlockNumber,
    };
  }

  async claim(id: PaymentId): Promise<Lease> {
    const claimed = await this.ledger.claim(this.claimRequest(id, 1_000_000));
    if (claimed.outcome !== 'claimed') throw new Error(`not claimed: ${claimed.outcome}`);
    return claimed.lease;
  }

  /** Has the payment buy an answer, as a gateway does. */
  async sell(id: PaymentId): Promise<void> {
    const lease = await this.claim(id);
    const { asset, payTo, chainId } = this.chain;
    const at = this.ledger.nowMs();
    const { payer } = this;
    const facts = {
      requestId: 'request-1',
      route: '/api/weather',
      method: 'GET',
      scheme: 'tx-hash',
      network: 'eip155:1328',
      chainId,
      asset,
      payTo,
      payer,
      amount: String(PRICE),
      price: String(PRICE),
      transaction: 'txHash' in id ? id.txHash : null,
      logIndex: 'logIndex' in id ? id.logIndex : null,
      requestHash: 'r'.repeat(22),
      answerHash: 'ab'.repeat(32),
      status: 200,
      bytes: 5,
      upstreamMs: 1,
      timeline: { presentedAtMs: at, verifiedAtMs: at, claimedAtMs: at, fulfilledAtMs: at, settledAtMs: null },
    };
    await this.ledger.commit(lease, { status: 200, headers: [], body: Buffer.from('sunny') }, { facts });
  }

  async waitUntilBooked(payment: string): Promise<void> {
    const token = await this.base.createToken('operator:read');
    await waitFor(`${payment} is booked`, async () => {
      return (await this.get(`/operator/payments/${payment}`, token)).status === 200;
    });
  }

  async get<T>(path: string, token: string): Promise<Answered<T>> {
    const response = await fetch(`${this.url}${path}`, { headers: { Authorization: `Bearer ${token}` } });
    return { status: response.status, body: (await response.json()) as T };
  }

  async post<T = Record<string, unknown>>(path: string, token: string, body: object = {}): Promise<Answered<T>> {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const response = await fetch(`${this.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as T };
  }

  /** Waits until a refund is in this state; wakes its job, which the worker else looks at every ten seconds. */
  async waitForRefund(id: string, state: OperatorRefund['state'], token: string): Promise<OperatorRefund> {
    let refund: OperatorRefund | null = null;
    await waitFor(`the refund ${id} is ${state}`, async () => {
      const { status, body } = await this.get<OperatorRefund>(`/operator/refunds/${id}`, token);
      refund = status === 200 ? body : null;
      if (refund?.job != null) await this.queue.wake(refund.job, this.lane);
      return refund?.state === state;
    });
    if (refund === null) throw new Error('the refund is gone');
    return refund;
  }

  /** A refund as it is once the book has read the outbox, for which a busy bookkeeper's answer does not wait. */
  async waitUntilRead(answered: OperatorRefund, token: string): Promise<OperatorRefund> {
    let refund = answered;
    await waitFor(`the book has read what the refund ${answered.id} needs`, async () => {
      if (refund.detail !== NOT_READ) return true;
      const { status, body } = await this.get<OperatorRefund>(`/operator/refunds/${answered.id}`, token);
      if (status === 200) refund = body;
      return refund.detail !== NOT_READ;
    });
    return refund;
  }

  async waitForApproval(id: string, token: string): Promise<OperatorRefund> {
    let refund: OperatorRefund | null = null;
    await waitFor(`the refund ${id} waits for an approval`, async () => {
      ({ body: refund } = await this.get<OperatorRefund>(`/operator/refunds/${id}`, token));
      if (refund.job !== null) await this.queue.wake(refund.job, this.lane);
      return refund.jobState === 'AWAITING_APPROVAL' && refund.planDigest !== null;
    });
    if (refund === null) throw new Error('the refund is gone');
    return refund;
  }

  /** Base units of the asset. */
  balanceOf(address: Hex): Promise<bigint> {
    return readBalance(this.chain, address);
  }

  /** The first payer of the devnet. */
  get payer(): Hex {
    const [first] = this.chain.accounts;
    if (first === undefined) throw new Error('the devnet has no accounts');
    return first.address;
  }

  get url(): string {
    if (this.#url === null) throw new Error('no bookkeeper was started');
    return this.#url;
  }
}
