import {
  type Hex,
  type SignedAuthorization,
  signedAmountOf,
  type SignedPayment,
  type TransferAuthorization,
} from '@tollgate/protocol';
import {
  type ComparedQuestion,
  RequestReplyClient,
  queueOfChain,
  SETTLE_QUEUE,
  SETTLE_SIGNED_PAYMENT,
  VERIFY_QUEUE,
  VERIFY_SIGNED_PAYMENT,
  type SettlementResult,
  type SettleSignedPaymentRequest,
  type SignedPaymentVerdict,
} from '@tollgate/transport';
import { numberToHex } from 'viem';

import { waitForPool } from '../../../test/harness/payments/wait-for-pool.js';
import { waitFor } from '../../../test/harness/retry.js';
import { borrowRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import { startChain, type Devnet, type DevnetAccount } from '../../../tools/devnet/chain/chain.js';
import { readBalance } from '../../../tools/devnet/chain/read-balance.js';
import { signAuthorization } from '../../../tools/devnet/chain/sign-authorization.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { startVerifier } from '../src/start-verifier.js';
import { settingsOf } from './settings-of.js';

const ASK_MS = 20_000;

/** A Redis, a chain, verifiers in this process that settle, and a client that asks them. */
export class SettlementFixture {
  readonly #verifiers: { close(): Promise<unknown> }[] = [];
  #settings: string | undefined;

  private constructor(
    readonly redis: BorrowedRedis,
    readonly chain: Devnet,
    readonly client: RequestReplyClient,
    private readonly verifyClient: RequestReplyClient,
  ) {}

  static async start(): Promise<SettlementFixture> {
    const [redis, chain] = await Promise.all([borrowRedis(), startChain()]);
    const client = new RequestReplyClient({ redisUrl: redis.url, queue: queueOfChain(SETTLE_QUEUE, 1328) });
    const verifyClient = new RequestReplyClient({ redisUrl: redis.url, queue: queueOfChain(VERIFY_QUEUE, 1328) });
    await Promise.all([client.connect(), verifyClient.connect()]);
    return new SettlementFixture(redis, chain, client, verifyClient);
  }

  async stop(): Promise<void> {
    await this.closeVerifiers();
    await Promise.all([this.client.close(), this.verifyClient.close()]);
    await Promise.all([this.redis.stop(), this.chain.stop()]);
  }

  relayer(index = 0): DevnetAccount {
    const account = this.chain.relayers[index];
    if (!account) throw new Error(`the devnet has ${this.chain.relayers.length} relayers`);
    return account;
  }

  async startVerifier(env: Record<string, string> = {}): Promise<Awaited<ReturnType<typeof startVerifier>>> {
    const verifier = await startVerifier({
      RPC_URL: this.chain.rpcUrl,
      REDIS_URL: this.redis.url,
      ASSET_ADDRESS: this.chain.asset,
      PAY_TO: this.chain.payTo,
      RELAYER_PRIVATE_KEYS: this.relayer().privateKey,
      // A verifier gives it back when it is closed; on a busy machine it is not renewed each third of a second.
      RELAYER_LEASE_MS: '4000',
      VERIFIER_PORT: '0',
      LOG_LEVEL: 'silent',
      ...env,
    });
    this.#verifiers.push(verifier);
    return verifier;
  }

  async closeVerifiers(): Promise<void> {
    await Promise.all(this.#verifiers.splice(0).map((verifier) => verifier.close()));
  }

  payer(index = 0): DevnetAccount {
    const account = this.chain.accounts[index];
    if (!account) throw new Error(`the devnet has ${this.chain.accounts.length} payers`);
    return account;
  }

  sign(terms: Partial<TransferAuthorization> = {}, signer = this.payer()): Promise<SignedAuthorization> {
    return signAuthorization(this.chain, signer, { value: '1000', ...terms });
  }

  createRequest(
    payment: SignedPayment,
    changes: Partial<ComparedQuestion<SettleSignedPaymentRequest>> = {},
  ): ComparedQuestion<SettleSignedPaymentRequest> {
    const value = signedAmountOf(payment);
    return {
      requestId: 'test',
      deadlineMs: Date.now() + ASK_MS,
      terms: {
        chainId: this.chain.chainId,
        asset: this.chain.asset.toLowerCase() as Hex,
        assetName: 'USDC',
        assetVersion: '2',
        payTo: this.chain.payTo.toLowerCase() as Hex,
        priceBaseUnits: value,
      },
      payment,
      amountBaseUnits: value,
      settings: this.#describeSettings(),
      ...changes,
    };
  }

  settle(
    payment: SignedPayment,
    changes: Partial<ComparedQuestion<SettleSignedPaymentRequest>> = {},
  ): Promise<SettlementResult> {
    return this.client.ask<SettlementResult>(SETTLE_SIGNED_PAYMENT, this.createRequest(payment, changes), {
      timeoutMs: ASK_MS,
    });
  }

  /** The check before a resource is produced; nothing is claimed. */
  verify(payment: SignedPayment, terms = this.createRequest(payment).terms): Promise<SignedPaymentVerdict> {
    const deadlineMs = Date.now() + ASK_MS;
    const settings = this.#describeSettings();
    const asked = { requestId: 'test', deadlineMs, terms, payment, clientAddress: '127.0.0.1', claim: null, settings };
    return this.verifyClient.ask<SignedPaymentVerdict>(VERIFY_SIGNED_PAYMENT, asked, { timeoutMs: ASK_MS });
  }

  #describeSettings(): string {
    return (this.#settings ??= settingsOf(this.chain));
  }

  rpc(method: string, params: unknown[] = []): Promise<unknown> {
    return callRpc(this.chain.rpcUrl, method, params);
  }

  /** The number of transactions that the relayer has sent. */
  async readSent(index = 0): Promise<number> {
    return Number(await this.rpc('eth_getTransactionCount', [this.relayer(index).address, 'latest']));
  }

  /** Waits until this many transactions are in the pool. */
  waitForPool(count: number): Promise<void> {
    return waitForPool(this.chain.rpcUrl, count);
  }

  /** The last transaction that the next block would have, once it has one. */
  async waitForTransaction(): Promise<Hex> {
    const seen: Hex[] = [];
    await waitFor('a settlement in the pool', async () => {
      const block = await this.rpc('eth_getBlockByNumber', ['pending', false]);
      return seen.push(...(block as { transactions: Hex[] }).transactions.slice(-1)) > 0;
    });
    const [last] = seen;
    if (last === undefined) throw new Error('there is no transaction');
    return last;
  }

  setBalance(address: Hex, wei: bigint): Promise<unknown> {
    return this.rpc('anvil_setBalance', [address, numberToHex(wei)]);
  }

  /** The balance in base units of the devnet's token. */
  readBalance(owner: Hex = this.chain.payTo): Promise<bigint> {
    return readBalance(this.chain, owner);
  }
}
