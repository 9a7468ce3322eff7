import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { WakeQueues, WalletDirectory } from '@tollgate/agent-jobs';
import { createLaneId, Journal } from '@tollgate/journal';
import { BUCKETS, Ledger } from '@tollgate/ledger';
import type { OperatorRefund, ReconcileAnswer } from '@tollgate/operator-api';
import type { Hex } from '@tollgate/protocol';
import { encodeFunctionData } from 'viem';

import { answered, deliver } from '../../../libs/book/test/sample-events.js';
import { startRpcStandIn, type RpcStandIn } from '../../../libs/chain/test/rpc-stand-in.js';
import { runWorker } from '../../../test/harness/agents/run-worker.js';
import { waitFor } from '../../../test/harness/retry.js';
import { startChain, type Devnet } from '../../../tools/devnet/chain/chain.js';
import { deploy } from '../../../tools/devnet/chain/deploy.js';
import { sendTransaction, transferTokens } from '../../../tools/devnet/chain/transfer-tokens.js';
import { readContracts } from '../../../tools/devnet/contracts/contracts.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';
import { creationCode } from '../../../tools/devnet/protocols/artifacts.js';
import { BookkeeperFixture } from './bookkeeper-fixture.js';

const SECOND_CHAIN_ID = 84_532;

/** A token on one of the chains. */
export interface SoldToken {
  readonly chain: Devnet;
  readonly asset: Hex;
}

/** A bookkeeper of a seller that is paid in USDC on two chains, and in a token of 18 decimals on the second. */
export class TwoChainsFixture {
  readonly usdcOne: SoldToken;
  readonly usdcTwo: SoldToken;
  url = '';
  token = '';

  private constructor(
    readonly books: BookkeeperFixture,
    readonly one: Devnet,
    readonly two: Devnet,
    /** A token of 18 decimals. */
    readonly plainTwo: SoldToken,
    /** Between the bookkeeper and the second chain. */
    readonly rpcOfTwo: RpcStandIn,
    private readonly folder: string,
  ) {
    this.usdcOne = { chain: one, asset: one.asset };
    this.usdcTwo = { chain: two, asset: two.asset };
  }

  static async start(): Promise<TwoChainsFixture> {
    const [books, one, two] = await Promise.all([
      BookkeeperFixture.start(),
      startChain(),
      startChain({ chainId: SECOND_CHAIN_ID }),
    ]);
    const plain = { chain: two, asset: await deployPlainToken(two) };
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-two-chains-'));
    const fixture = new TwoChainsFixture(books, one, two, plain, await startRpcStandIn(two.rpcUrl), folder);
    fixture.#writePaymentsFile();
    await fixture.#openLedger(Date.now() - 60_000);
    fixture.token = await books.createToken('operator:read', 'operator:refund');
    fixture.url = (await books.startBookkeeper(fixture.settings())).url;
    return fixture;
  }

  async stop(): Promise<void> {
    await this.books.stop();
    await Promise.all([this.one.stop(), this.two.stop(), this.rpcOfTwo.stop()]);
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
    writeFileSync(wallets, JSON.stringify({ wallets: { 'refunds-two': { privateKeyFile: 'key' } } }));
    const lane = createLaneId(SECOND_CHAIN_ID, wallet.address);
    const journal = new Journal({ redis, timeoutMs: 30_000 });
    await journal.open();
    const nonce = await callRpc(this.two.rpcUrl, 'eth_getTransactionCount', [wallet.address, 'pending']);
    await journal.adopt(lane, { pendingNonce: Number(nonce) });
    const queue = new WakeQueues({ connection: redis, onTrouble: () => undefined });
    const worker = await runWorker({
      ...this.#ofFile(),
      CHAIN: 'two',
      REDIS_URL: this.books.server.url,
      BOOK: 'on',
      WALLETS_FILE: wallets,
      LANE_POLL_MS: '50',
      AGENT_SECRET: 'a secret of the agent worker that is long enough',
    });
    try {
      const directory = new WalletDirectory(redis);
      await waitFor('the wallet is published', async () => (await directory.find('refunds-two')) !== null);
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
    return { PAYMENTS_FILE: join(this.folder, 'payments.yaml'), RPC_ONE: this.one.rpcUrl, RPC_TWO: this.rpcOfTwo.url };
  }

  #writePaymentsFile(): void {
    const { one, two, plainTwo } = this;
    writeFileSync(
      join(this.folder, 'payments.yaml'),
      `chains:
  one: { id: ${one.chainId}, network: chain-one, rpc: '\${RPC_ONE}' }
  two: { id: ${two.chainId}, network: chain-two, rpc: '\${RPC_TWO}', explorer: 'https://two.example' }
accepts:
  usdc-one: { chain: one, token: '${one.asset}', decimals: 6, symbol: USDC, payTo: '${one.payTo}' }
  usdc-two: { chain: two, token: '${two.asset}', decimals: 6, symbol: USDC, payTo: '${two.payTo}' }
  plain-two: { chain: two, token: '${plainTwo.asset}', decimals: 18, symbol: PLAIN, payTo: '${two.payTo}', rate: 0.0004 }
`,
    );
  }
}

async function deployPlainToken(chain: Devnet): Promise<Hex> {
  const { TestToken } = await readContracts();
  const token = await deploy(chain, creationCode(TestToken, ['Plain', 'PLAIN', 18]));
  for (const { address } of [...chain.accounts.slice(0, 1), ...chain.agentWallets.slice(0, 1)]) {
    const data = encodeFunctionData({ abi: TestToken.abi, functionName: 'mint', args: [address, 10n ** 21n] });
    await sendTransaction(chain, { to: token, data });
  }
  return token;
}
