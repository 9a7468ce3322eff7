import type { Balance, PaymentPicture } from '@tollgate/book';
import type { AnsweredFacts, SettledFacts } from '@tollgate/book-events';
import { BUCKETS } from '@tollgate/ledger';
import type { ReconcileAnswer } from '@tollgate/operator-api';
import type { Hex } from '@tollgate/protocol';

import { answered, deliver, settled } from '../../../libs/book/test/sample-events.js';
import { waitFor } from '../../../test/harness/retry.js';
import { startChain, type Devnet } from '../../../tools/devnet/chain/chain.js';
import { transferTokens } from '../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { BookkeeperFixture, type StartedBookkeeper } from './bookkeeper-fixture.js';

/** A bookkeeper that compares its book with a devnet. */
export class ReconcileFixture {
  bookkeeper!: StartedBookkeeper;
  token!: string;

  private constructor(
    readonly books: BookkeeperFixture,
    readonly chain: Devnet,
  ) {}

  /** @param rpcUrl of a stand-in for the devnet's own */
  static async start(rpcUrl?: (chain: Devnet) => Promise<string>): Promise<ReconcileFixture> {
    const [books, chain] = await Promise.all([BookkeeperFixture.start(), startChain()]);
    const fixture = new ReconcileFixture(books, chain);
    await fixture.completeFrom(Date.now() - 60_000);
    fixture.token = await books.createToken('operator:read', 'operator:refund');
    await fixture.startBookkeeper({ RECONCILE_RPC_URL: (await rpcUrl?.(chain)) ?? chain.rpcUrl });
    return fixture;
  }

  async startBookkeeper(more: Record<string, string> = {}): Promise<void> {
    const { chainId, asset, payTo, rpcUrl } = this.chain;
    this.bookkeeper = await this.books.startBookkeeper({
      CHAIN_ID: String(chainId),
      ASSET_ADDRESS: asset,
      PAY_TO: payTo,
      RPC_URL: rpcUrl,
      RECONCILE_RPC_URL: rpcUrl,
      RECONCILE_CONFIRMATIONS: '1',
      RECONCILE_GRACE_SECONDS: '0',
      RECONCILE_INTERVAL_MS: '50',
      ...more,
    });
  }

  async stop(): Promise<void> {
    await this.books.stop();
    await this.chain.stop();
  }

  /** As the ledger notes since when it reports every change. */
  async completeFrom(atMs: number): Promise<void> {
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      await this.books.redis.hset(`tollgate:{pay-${bucket}}:birth:1328`, 'booked', String(atMs));
    }
  }

  pay(amountBaseUnits = 10_000n, payer = 0): Promise<Hex> {
    return transferTokens(this.chain, { from: this.payer(payer), amountBaseUnits });
  }

  payer(index = 0): Hex {
    return this.chain.accounts[index]?.address.toLowerCase() as Hex;
  }

  /** Reports that a transfer of 10000 base units has bought an answer. */
  async answer(transaction: Hex, more: Partial<AnsweredFacts> & { id?: string } = {}): Promise<string> {
    const { id = this.nameOf(transaction), ...facts } = more;
    const { asset, payTo } = this.chain;
    await this.books.report(deliver(answered(id, { transaction, asset, payTo, payer: this.payer(), ...facts })));
    return id;
  }

  async settle(payments: readonly string[], more: Partial<SettledFacts>): Promise<void> {
    const { asset, payTo } = this.chain;
    const moved = { asset, payTo, payer: this.payer(), amount: '10000', logIndex: 0 };
    const event = settled(payments, { payments: payments.map((payment) => ({ payment, ...moved })), ...more });
    await this.books.report(deliver(event));
  }

  nameOf(transaction: Hex): string {
    return `tx:${this.chain.chainId}:${transaction}:0`;
  }

  async mine(blocks = 1): Promise<void> {
    await callRpc(this.chain.rpcUrl, 'anvil_mine', [`0x${blocks.toString(16)}`]);
  }

  async get<T>(path: string): Promise<T> {
    const headers = { Authorization: `Bearer ${this.token}` };
    return (await (await fetch(`${this.bookkeeper.url}${path}`, { headers })).json()) as T;
  }

  /** Asks for a refund of all that is left. */
  async refund(payment: string): Promise<{ status: number; body: Record<string, unknown> }> {
    const headers = { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json' };
    const asked = { method: 'POST', headers, body: JSON.stringify({ payment }) };
    const response = await fetch(`${this.bookkeeper.url}/operator/refunds`, asked);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  read(): Promise<ReconcileAnswer> {
    return this.get('/operator/reconcile');
  }

  findPayment(id: string): Promise<PaymentPicture> {
    return this.get(`/operator/payments/${encodeURIComponent(id)}`);
  }

  async waitForState(id: string, state: string): Promise<PaymentPicture> {
    await waitFor(`${id} is ${state}`, async () => (await this.findPayment(id)).state === state);
    return this.findPayment(id);
  }

  /** Waits until everything is compared, and returns the result. */
  async waitUntilCompared(): Promise<ReconcileAnswer> {
    const head = Number(await callRpc(this.chain.rpcUrl, 'eth_blockNumber'));
    await waitFor('everything is compared', async () => {
      const { block, waiting, trouble } = await this.read();
      return trouble === null && block !== null && block >= head && waiting.transfers + waiting.payments === 0;
    });
    return this.read();
  }

  /** Waits until the clock has passed the last block, whose time is a whole second and may run ahead of the clock. */
  async waitPastHead(): Promise<void> {
    const head = (await callRpc(this.chain.rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex };
    await waitFor('the time of the last block', () => Date.now() > (Number(head.timestamp) + 1) * 1000);
  }

  /** Base units by account, of the asset. */
  async balances(): Promise<Record<string, string>> {
    const { balances } = await this.get<{ balances: Balance[] }>('/operator/balances');
    const own = balances.filter(({ asset }) => !asset.endsWith(':native'));
    return Object.fromEntries(own.map(({ account, amount }) => [account, amount]));
  }

  /** Whether the book is whole. */
  async verify(): Promise<string | null> {
    return (await this.get<{ broken: string | null }>('/operator/verification')).broken;
  }
}
