import { createLaneId, Journal, RELAYER_FLEET } from '@tollgate/journal';
import type { Hex, SignedAuthorization } from '@tollgate/protocol';
import { Strikes } from '@tollgate/settlement';
import type { SettlementResult } from '@tollgate/transport';
import { Redis } from 'ioredis';
import { numberToHex, parseTransaction } from 'viem';

import { refuseCalls, startRpcProxy, type RpcProxy } from '../../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import type { DevnetAccount } from '../../../../tools/devnet/chain/chain.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

const PRICE = 1000n;
/** The number of failures that bars a payer. */
const ROUNDS = 5;
/** The address at which the token's own code is put. */
const PLAIN_TOKEN: Hex = `0x${'71'.repeat(20)}`;
/** Asks the payer, as FiatToken 2.2 asks one with code, and fails if that fails; then does what the token does. */
const ASKING_TOKEN: Hex = `0x5f3560e01c63e3ee160e1415601e575f5f5f5f6004355afa601e575f5ffd5b365f5f375f5f365f73${PLAIN_TOKEN.slice(2)}5af43d5f5f3e6048573d5ffd5b3d5ff3`;

const BURNS_ALL: Hex = '0xfe';
const SAYS_NO: Hex = '0x5f5ffd';
const NO_CODE = '0x';

interface PendingBlock {
  transactions: { input: Hex }[];
}

/** Like a payer that retries for as long as the answer allows it. */
async function settleWith(fixture: SettlementFixture, payment: SignedAuthorization): Promise<SettlementResult> {
  for (;;) {
    const result = await fixture.settle(payment);
    if (result.outcome === 'settled' || result.outcome === 'failed') return result;
  }
}

describe('payments that share a transaction', () => {
  let fixture: SettlementFixture;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    const { asset } = fixture.chain;
    await fixture.rpc('anvil_setCode', [PLAIN_TOKEN, await fixture.rpc('eth_getCode', [asset, 'latest'])]);
    await fixture.rpc('anvil_setCode', [asset, ASKING_TOKEN]);
    await fixture.startVerifier();
  });

  afterAll(() => fixture.stop());

  const settle = (payment: SignedAuthorization) => settleWith(fixture, payment);

  /** The payers' payments in one transaction; before its block the first payer is given code, as by EIP-7702. */
  async function settleTogether(payers: readonly DevnetAccount[], code: Hex): Promise<SettlementResult[]> {
    const changing = payers[0]!.address;
    const payments = await Promise.all(payers.map((payer) => fixture.sign({}, payer)));
    await fixture.rpc('evm_setAutomine', [false]);
    const settling = payments.map(settle);
    await waitFor('the payments are in the pool', async () => (await readPending()).length > 0);
    const [bundle, ...others] = await readPending();
    expect(others).toEqual([]);
    for (const { address } of payers) expect(bundle).toContain(address.slice(2).toLowerCase());
    await fixture.rpc('anvil_setCode', [changing, code]);
    const results = await mineUntil(Promise.all(settling));
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('anvil_setCode', [changing, NO_CODE]);
    return results;
  }

  async function mineUntil<T>(coming: Promise<T>): Promise<T> {
    let hasCome = false;
    void coming.then(() => (hasCome = true));
    await waitFor('all of them have an answer', async () => {
      if ((await readPending()).length > 0) await fixture.rpc('evm_mine');
      return hasCome;
    });
    return coming;
  }

  async function readPending(): Promise<Hex[]> {
    const { transactions } = (await fixture.rpc('eth_getBlockByNumber', ['pending', true])) as PendingBlock;
    return transactions.map(({ input }) => input);
  }

  // Prevents: a payer that makes a shared transaction fail gets the honest payers in it barred for an hour.
  it('are settled once, and no failure counts against their payers, when the transaction reverts as a whole', async () => {
    const [one, other, burning] = [fixture.payer(0), fixture.payer(1), fixture.payer(2)];
    const [received, spent] = [await fixture.readBalance(), await fixture.readBalance(burning.address)];
    for (let round = 1; round <= ROUNDS; round++) {
      const before = await fixture.readSent();
      const results = await settleTogether([burning, one, other], BURNS_ALL);
      expect(results).toMatchObject([{ outcome: 'failed' }, { outcome: 'settled' }, { outcome: 'settled' }]);
      // One shared transaction, and a new one for each honest payer.
      expect(await fixture.readSent()).toBe(before + 3);
      expect(await fixture.readBalance()).toBe(received + 2n * PRICE * BigInt(round));
    }
    for (const payer of [one, other]) {
      expect(await settle(await fixture.sign({}, payer))).toMatchObject({ outcome: 'settled' });
    }
    expect(await fixture.readBalance(burning.address)).toBe(spent);
  });

  // Prevents: a payment that was simulated fails beside others for as long as its payer likes, at the relayer's cost.
  it('count against the payer whose own payment fails, and no other', async () => {
    const [honest, failing] = [fixture.payer(3), fixture.payer(4)];
    for (let round = 1; round <= ROUNDS; round++) {
      const before = await fixture.readSent();
      const results = await settleTogether([failing, honest], SAYS_NO);
      expect(results).toMatchObject([{ outcome: 'failed' }, { outcome: 'settled' }]);
      expect(await fixture.readSent()).toBe(before + 1);
    }
    const before = await fixture.readSent();
    const refused = await settle(await fixture.sign({}, failing));
    expect(refused).toMatchObject({ outcome: 'failed', failure: 'settlement_failed', txHash: null });
    expect(await fixture.readSent()).toBe(before);
    expect(await settle(await fixture.sign({}, honest))).toMatchObject({ outcome: 'settled' });
  });
});

describe('payments whose shared transaction the chain refuses', () => {
  const BLOCK_GAS = 10_000_000;
  const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11';
  let fixture: SettlementFixture;
  let proxy: RpcProxy;

  beforeEach(async () => {
    fixture = await SettlementFixture.start();
    proxy = await startRpcProxy(fixture.chain.rpcUrl);
  });

  afterEach(async () => {
    await fixture.stop();
    await proxy.stop();
  });

  /** Refuses these signed transactions with this message; returns the hex bytes of all that were sent, and counts the refused. */
  function watchSends(messageFor: (sent: ReturnType<typeof parseTransaction>) => string | null) {
    const seen = { sent: new Set<Hex>(), refused: 0 };
    const judge = refuseCalls(fixture.chain.rpcUrl, ({ method, params }) => {
      if (!method.startsWith('eth_sendRawTransaction')) return null;
      const raw = params[0] as Hex;
      seen.sent.add(raw);
      const message = messageFor(parseTransaction(raw));
      if (message !== null) seen.refused++;
      return message;
    });
    proxy.intercept('*', judge);
    return seen;
  }

  const settleAll = (payments: readonly SignedAuthorization[]): Promise<SettlementResult[]> =>
    Promise.all(payments.map((payment) => settleWith(fixture, payment)));

  // Prevents: more payments than a block's gas allows, at once after a verifier's start, stop its relayer for good.
  it('fit into a block, however many there are and however little is known of their gas', async () => {
    await fixture.rpc('evm_setBlockGasLimit', [numberToHex(BLOCK_GAS)]);
    await fixture.rpc('evm_mine');
    const seen = watchSends(({ gas = 0n }) =>
      gas > BLOCK_GAS ? `tx gas limit ${gas} exceeds block max gas ${BLOCK_GAS}: out of gas` : null,
    );
    await fixture.startVerifier({ RPC_URL: proxy.rpcUrl });
    const payers = fixture.chain.accounts;
    const payments = await Promise.all(
      Array.from({ length: 50 }, (_, index) => fixture.sign({}, payers[index % payers.length])),
    );
    // Until the second batch is sent, no receipt shows how much gas a payment takes.
    await fixture.rpc('evm_setAutomine', [false]);
    const settling = settleAll(payments);
    await waitFor('the second batch', () => Promise.resolve(seen.sent.size >= 2));
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
    expect((await settling).map(({ outcome }) => outcome)).toEqual(payments.map(() => 'settled'));
    expect(await settleAll([await fixture.sign()])).toMatchObject([{ outcome: 'settled' }]);
    expect(seen.refused).toBe(0);
  });

  // Prevents: a payer with several payments in a transaction that no server accepts is barred for an hour.
  it('are settled one by one, and none of it counts against their payer', async () => {
    const seen = watchSends(({ to }) => (to?.toLowerCase() === MULTICALL3 ? 'exceeds block gas limit' : null));
    await fixture.startVerifier({ RPC_URL: proxy.rpcUrl, SETTLE_BATCH_WAIT_MS: '1000' });
    const payments = await Promise.all(Array.from({ length: 6 }, () => fixture.sign()));
    expect((await settleAll(payments)).map(({ outcome }) => outcome)).toEqual(payments.map(() => 'settled'));
    expect(seen.refused).toBeGreaterThan(0);
    expect(await settleAll([await fixture.sign()])).toMatchObject([{ outcome: 'settled' }]);
  });
});

describe('payments whose shared transaction has to wait', () => {
  /** After this time a planned transaction is simulated again. */
  const FRESH_MS = 5_000;
  let fixture: SettlementFixture;
  let redis: Redis;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    redis = new Redis(fixture.redis.url);
    // Two that are in flight beside another one share a transaction, and wait for no third.
    await fixture.startVerifier({ RELAYER_MAX_IN_FLIGHT: '1', SETTLE_BATCH_SIZE: '2', SETTLE_BATCH_WAIT_MS: '1000' });
  });

  afterAll(async () => {
    redis.disconnect();
    await fixture.stop();
  });

  // Prevents: a busy relayer gets honest payers barred for an hour, by payments that it has not sent.
  it('do not count against the payer of one that is left out when it is simulated again', async () => {
    const [first, left, sent] = [fixture.payer(0), fixture.payer(1), fixture.payer(2)];
    const strikes = new Strikes(redis, fixture.chain.chainId);
    const payer = left.address.toLowerCase() as Hex;
    for (let strike = 1; strike < ROUNDS; strike++) await strikes.note(payer);
    const journal = new Journal({ redis, fleet: RELAYER_FLEET });
    const lane = createLaneId(fixture.chain.chainId, fixture.relayer().address);
    const readJobs = async () =>
      (await journal.readEachJob(await journal.readOpenJobs(lane))).flatMap((job) =>
        job !== null && 'steps' in job ? job : [],
      );
    const names = (text: string, { address }: DevnetAccount) => text.includes(address.slice(2).toLowerCase());
    await fixture.rpc('evm_setAutomine', [false]);
    const payments = await Promise.all([first, left, sent].map((account) => fixture.sign({}, account)));
    const inFlight = settleWith(fixture, payments[0]!);
    await waitFor('the first in the pool', async () => {
      const { transactions } = (await fixture.rpc('eth_getBlockByNumber', ['pending', true])) as PendingBlock;
      return transactions.length > 0;
    });
    const waiting = payments.slice(1).map((payment) => settleWith(fixture, payment));
    await waitFor('both in a job that has to wait', async () =>
      (await readJobs()).some(
        ({ input, steps }) =>
          !steps[0]?.attempts.length && [left, sent].every((account) => names(JSON.stringify(input), account)),
      ),
    );
    const plannedMs = performance.now();
    await fixture.rpc('anvil_setCode', [left.address, BURNS_ALL]);
    await waitFor('the simulation is to be repeated', () => Promise.resolve(performance.now() - plannedMs > FRESH_MS));
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
    expect(await inFlight).toMatchObject({ outcome: 'settled' });
    const [, settled] = await Promise.all(waiting);
    expect(settled).toMatchObject({ outcome: 'settled' });
    const { txHash } = settled as { txHash: Hex };
    const { input } = (await fixture.rpc('eth_getTransactionByHash', [txHash])) as { input: Hex };
    expect([names(input, left), names(input, sent)]).toEqual([false, true]);
    expect(await strikes.findBarred([payer])).toEqual(new Set());
  });
});
