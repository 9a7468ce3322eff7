import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { WakeQueues, WalletDirectory } from '@tollgate/agent-jobs';
import { createLaneId, Journal } from '@tollgate/journal';
import { BUCKETS, Ledger } from '@tollgate/ledger';
import type { OperatorRefund, ReconcileAnswer } from '@tollgate/operator-api';
import type { Hex } from '@tollgate/protocol';

import { answered, deliver } from '../../../libs/book/test/sample-events.js';
import { startRpcStandIn, type RpcStandIn } from '../../../libs/chain/test/rpc-stand-in.js';
import { runWorker } from '../../../test/harness/agents/run-worker.js';
import { waitFor } from '../../../test/harness/retry.js';
import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { FIRST_OF_FILE, SECOND_OF_FILE } from '../../../tools/devnet/chain/payments-file.js';
import { transferTokens } from '../../../tools/devnet/chain/transfer-tokens.js';
import { SECOND_CHAIN_ID, startTwoChains, type TwoChains } from '../../../tools/devnet/chain/two-chains.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { BookkeeperFixture } from './bookkeeper-fixture.js';

const REFUNDS_OF_TWO = `refunds-${SECOND_OF_FILE.name}`;

/** A token on one of the chains. */
export interface SoldToken {
  readonly chain: Devnet;
  readonly asset: Hex;
}

/** A bookkeeper of a seller that is paid in USDC on two chains, and in a token of 18 decimals on the second: see `writePaymentsFile`. */
export class TwoChainsFixture {
  readonly usdcOne: SoldToken;
  readonly usdcTwo: SoldToken;
  /** WDEV, of 18 decimals. */
  readonly plainTwo: SoldToken;
  url = '';
  token = '';

  private constructor(
    readonly books: BookkeeperFixture,
    private readonly chains: TwoChains,
    /** Between the bookkeeper and the second chain. */
    readonly rpcOfTwo: RpcStandIn,
    private readonly folder: string,
  ) {
    const { one, two } = this;
    this.usdcOne = { chain: one, asset: one.asset };
    this.usdcTwo = { chain: two, asset: two.asset };
    this.plainTwo = { chain: two, asset: two.plainToken };
  }

  static async start(): Promise<TwoChainsFixture> {
    const [books, chains] = await Promise.all([BookkeeperFixture.start(), startTwoChains()]);
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-two-chains-'));
    const fixture = new TwoChainsFixture(books, chains, await startRpcStandIn(chains.second.rpcUrl), folder);
    await fixture.#openLedger(Date.now() - 60_000);
    fixture.token = await books.createToken('operator:read', 'operator:refund');
    fixture.url = (await books.startBookkeeper(fixture.settings())).url;
    return fixture;
  }

  get one(): Devnet {
    return this.chains.first;
  }

  get two(): Devnet {
    return this.chains.second;
  }

  async stop(): Promise<void> {
    await this.books.stop();
    await Promise.all([this.chains.stop(), this.rpcOfTwo.stop()]);
    rmSync(this.folder, { recursive: true });
  }

  settings(): Record<string, string> {
    return {
      ...{ ASSET_ADDRESS: '', PAY_TO: '', RPC_URL: '' },
      ...this.#ofFile(),
      RECONCILE_CONFIRMATIONS: '1',
      RECONCILE_GRACE_SECONDS: '0',
      RECONCILE_INTERVAL_MS: '50',
    };
  }

  /** A transfer to the seller; the payment's name. */
  async pay({ chain, asset }: SoldToken, amountBaseUnits: bigint): Promise<string> {
    const transaction = await transferTokens(chain, { amountBaseUnits, token: asset });
    return `tx:${chain.chainId}:${transaction}:0`;
  }

  /** Reports that a payment has bought an answer. */
  async answer(payment: string, { chain, asset }: SoldToken, amount: bigint): Promise<void> {
    const facts = { network: `eip155:${chain.chainId}`, chainId: chain.chainId, asset, payTo: chain.payTo };
    const transaction = payment.split(':')[2] as Hex;
    const paid = { transaction, payer: this.payer, amount: String(amount), price: String(amount) };
    await this.books.report(deliver(answered(payment, { ...facts, ...paid })));
  }

  get payer(): Hex {
    return this.one.accounts[0]?.address.toLowerCase() as Hex;
  }

  async get<T>(path: string): Promise<{ status: number; body: T }> {
    const response = await this.#fetch(path);
    return { status: response.status, body: (await response.json()) as T };
  }

  async getText(path: string): Promise<string> {
    return (await this.#fetch(path)).text();
  }

  async read(): Promise<ReconcileAnswer> {
    return (await this.get<ReconcileAnswer>('/operator/reconcile')).body;
  }

  /** Waits until the named chains are compared to their heads, and returns the result. */
  async waitUntilCompared(...chains: readonly Devnet[]): Promise<ReconcileAnswer> {
    const heads = new Map<number, number>();
    for (const { chainId, rpcUrl } of chains) heads.set(chainId, Number(await callRpc(rpcUrl, 'eth_blockNumber')));
    await waitFor('everything is compared', async () => {
      const scopes = (await this.read()).scopes.filter(({ chainId }) => heads.has(chainId));
      return scopes.every(
        ({ chainId, block, waiting, trouble }) =>
          trouble === null &&
          block !== null &&
          block >= (heads.get(chainId) ?? 0) &&
          waiting.transfers + waiting.payments === 0,
      );
    });
    return this.read();
  }

  async waitForState(payment: string, state: string): Promise<void> {
    await waitFor(`${payment} is ${state}`, async () => {
      return (await this.get<{ state?: string }>(`/operator/payments/${payment}`)).body.state === state;
    });
  }

  /** Asks for a refund of all that is left. */
  async refund(payment: string): Promise<{ status: number; body: OperatorRefund }> {
    const response = await fetch(`${this.url}/operator/refunds`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ payment }),
    });
    return { status: response.status, body: (await response.json()) as OperatorRefund };
  }

  /** Runs an agent worker of the second chain with the wallet of refunds, until the work is done. */
  async withWorkerOfTwo<T>(work: (wake: (jobId: string) => Promise<void>) => Promise<T>): Promise<T> {
    const { redis } = this.books;
    const [wallet] = this.two.agentWallets;
    if (wallet === undefined) throw new Error('the devnet has no agent wallets');
    writeFileSync(join(this.folder, 'key'), wallet.privateKey);
    const wallets = join(this.folder, 'wallets.json');
    writeFileSync(wallets, JSON.stringify({ wallets: { [REFUNDS_OF_TWO]: { privateKeyFile: 'key' } } }));
    const lane = createLaneId(SECOND_CHAIN_ID, wallet.address);
    const journal = new Journal({ redis, timeoutMs: 30_000 });
    await journal.open();
    const nonce = await callRpc(this.two.rpcUrl, 'eth_getTransactionCount', [wallet.address, 'pending']);
    await journal.adopt(lane, { pendingNonce: Number(nonce) });
    const queue = new WakeQueues({ connection: redis, onTrouble: () => undefined });
    const worker = await runWorker({
      ...this.#ofFile(),
      CHAIN: SECOND_OF_FILE.name,
      REDIS_URL: this.books.server.url,
      BOOK: 'on',
      WALLETS_FILE: wallets,
      LANE_POLL_MS: '50',
      AGENT_SECRET: 'a secret of the agent worker that is long enough',
    });
    try {
      const directory = new WalletDirectory(redis);
      await waitFor('the wallet is published', async () => (await directory.find(REFUNDS_OF_TWO)) !== null);
      return await work((jobId) => queue.wake(jobId, lane));
    } finally {
      await worker.stop();
      await queue.close();
    }
  }

  /** As verifiers of both chains that have reported every change since then. */
  async #openLedger(sinceMs: number): Promise<void> {
    const { redis } = this.books;
    const chainIds = [this.one.chainId, this.two.chainId];
    const ledger = new Ledger({ redis, chainIds, timeoutMs: 30_000, book: { outboxLimit: 100_000 } });
    for (const chainId of chainIds) {
      await ledger.open({ chainId, blockNumber: 0 });
      for (let bucket = 0; bucket < BUCKETS; bucket++)
        await redis.hset(`tollgate:{pay-${bucket}}:birth:${chainId}`, 'booked', String(sinceMs));
    }
  }

  #fetch(path: string): Promise<Response> {
    return fetch(`${this.url}${path}`, { headers: { Authorization: `Bearer ${this.token}` } });
  }

  #ofFile(): Record<string, string> {
    return {
      PAYMENTS_FILE: this.chains.paymentsFile,
      [FIRST_OF_FILE.rpcVariable]: this.one.rpcUrl,
      [SECOND_OF_FILE.rpcVariable]: this.rpcOfTwo.url,
    };
  }
}
