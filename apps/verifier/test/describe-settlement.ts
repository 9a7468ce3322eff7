import { createLaneId, Journal, type JobRecord, RELAYER_FLEET } from '@tollgate/journal';
import type { SignedPayment } from '@tollgate/protocol';
import type { SettlementResult } from '@tollgate/transport';
import { Redis } from 'ioredis';
import { type Hex, numberToHex, parseGwei } from 'viem';

import type { SignedMethod } from '../../../libs/verification/test/conformance/payment-method.js';
import { waitFor } from '../../../test/harness/retry.js';
import type { Devnet, DevnetAccount } from '../../../tools/devnet/chain/chain.js';
import { encodeTransfer, transferTokens } from '../../../tools/devnet/chain/transfer-tokens.js';
import { settingsOf } from './settings-of.js';
import { SettlementFixture } from './settlement-fixture.js';

const PRICE = 1000n;
const CONFIRMATIONS = 3;

/** The rows that hold for the settlement of a signed payment of any method, on verifiers with their own chain. */
export function describeSettlement<Payment extends SignedPayment>(
  create: (devnet: () => Devnet) => SignedMethod<Payment>,
): void {
  let fixture: SettlementFixture;
  const method = create(() => fixture.chain);
  const { moves } = method;
  /** A row that a method lacks if its payers name the one account that can send. */
  const byAnyone: (name: string, row: () => Promise<void>) => void = method.onlyBy ? () => undefined : it;

  /** Approved, and with the balance for `count` payments. */
  async function fund(payer: DevnetAccount, count: number): Promise<void> {
    await method.prepareWallet?.(payer.address);
    const amountBaseUnits = (await fixture.readBalance(payer.address)) - PRICE * BigInt(count);
    await transferTokens(fixture.chain, { from: payer.address, to: fixture.payer(8).address, amountBaseUnits });
  }
  const settle = (payment: Payment, amount = moves, changes = {}): Promise<SettlementResult> =>
    fixture.settle(payment, { amountBaseUnits: String(amount), ...changes });
  /** Before anything else that waits for its block. */
  const sendFirst = (from: Hex, call: { from?: Hex; to: Hex; data: Hex }) =>
    fixture.rpc('eth_sendTransaction', [
      {
        from,
        ...call,
        gas: numberToHex(300_000),
        maxPriorityFeePerGas: numberToHex(parseGwei('90')),
        maxFeePerGas: numberToHex(parseGwei('100')),
      },
    ]) as Promise<Hex>;
  const flee = async ({ address }: DevnetAccount) => {
    const amountBaseUnits = await fixture.readBalance(address);
    const data = encodeTransfer(fixture.chain, { amountBaseUnits, to: fixture.payer(8).address });
    return sendFirst(address, { to: fixture.chain.asset, data });
  };
  const holdBlocks = () => fixture.rpc('evm_setAutomine', [false]);
  const mineAgain = async () => {
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
  };

  describe(`settling payments by ${method.name}`, () => {
    beforeAll(async () => {
      fixture = await SettlementFixture.start();
      await method.prepare?.();
      await fixture.startVerifier();
    });
    afterAll(() => fixture.stop());
    afterEach(mineAgain);

    it('moves the amount, once, however often it is asked', async () => {
      const before = await fixture.readBalance();
      const payment = await method.pay();
      const results = await Promise.all(Array.from({ length: 20 }, () => settle(payment)));
      const [first] = results;
      const facts = { payer: fixture.payer().address.toLowerCase(), amountBaseUnits: String(moves) };
      expect(first).toMatchObject({ outcome: 'settled', ...facts });
      expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
      expect(await settle(payment)).toEqual(first);
      expect(await fixture.readBalance()).toBe(before + moves);
    });

    // Prevents: a repeated question comes too late and is answered as if nothing was sent, although something was; a
    // third-party server takes a settlement in progress for a failure, and its payer pays for nothing.
    it('answers every asker with its transaction while it is in flight, after the deadline too', async () => {
      await holdBlocks();
      const payment = await method.pay();
      const settling = settle(payment);
      const txHash = await fixture.waitForTransaction();
      for (const withinMs of [500, -1]) {
        const pending = await settle(payment, PRICE, { deadlineMs: Date.now() + withinMs });
        expect(pending).toEqual({ outcome: 'pending', txHash });
      }
      const late = { deadlineMs: Date.now() - 1 };
      expect(await settle(await method.pay(), moves, late)).toEqual({ outcome: 'pending', txHash: null });
      await mineAgain();
      expect(await settling).toMatchObject({ outcome: 'settled', txHash });
    });

    it('sends nothing that differs from what was signed', async () => {
      const failed = (failure: string) => ({ outcome: 'failed', failure, txHash: null });
      const before = await fixture.readSent();
      for (const amount of [PRICE + 1n, 0n, ...(moves === PRICE ? [PRICE - 1n] : [])]) {
        expect(await settle(await method.pay(), amount)).toEqual(failed('amount_mismatch'));
      }
      const elsewhere = await method.pay({ to: fixture.payer(3).address });
      expect(await settle(elsewhere)).toEqual(failed('recipient_mismatch'));
      expect(await fixture.readSent()).toBe(before);
    });

    byAnyone(
      'finds what another account has sent, before it is asked, and while ours waits for its block',
      async () => {
        const [early, late] = [await method.pay(), await method.pay()];
        const settled = { outcome: 'settled', amountBaseUnits: String(moves) };
        const txHash = await method.settle(early, moves);
        expect(await settle(early)).toMatchObject({ ...settled, txHash });
        await holdBlocks();
        const settling = settle(late);
        await fixture.waitForTransaction();
        const theirs = await sendFirst(fixture.payer(7).address, method.call(late, moves));
        await mineAgain();
        expect(await settling).toMatchObject({ ...settled, txHash: theirs });
      },
    );

    it('settles beside payments that became invalid, which buy nothing', async () => {
      const payers = [2, 4, 1, 3].map((index) => fixture.payer(index));
      for (const { address } of payers) await method.prepareWallet?.(address);
      const payments = await Promise.all(payers.map((signer) => method.pay({ signer })));
      await fund(fixture.payer(2), 0);
      for (const payment of payments.slice(1, 2)) await method.cancel(payment);
      const results = await Promise.all(payments.map((payment) => settle(payment)));
      expect(results.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'settled', 'settled']);
      expect(results.slice(0, 2)).toMatchObject([{ failure: method.tooPoor }, { failure: method.cancelled }]);
    });

    it('fails for a payer whose balance is gone before the block, and for no other', async () => {
      const [fleeing, other] = [fixture.payer(5), fixture.payer(6)];
      for (const payer of [fleeing, other]) await fund(payer, 1);
      await holdBlocks();
      const settling = await Promise.all([fleeing, other].map((signer) => method.pay({ signer })));
      const results = settling.map((payment) => settle(payment));
      await fixture.waitForTransaction();
      await flee(fleeing);
      await mineAgain();
      expect(await Promise.all(results)).toMatchObject([
        { outcome: 'failed', failure: method.tooPoor },
        { outcome: 'settled' },
      ]);
      expect(await fixture.readBalance(fleeing.address)).toBe(0n);
    });

    it('fails once its transaction was mined too late, and moves nothing', async () => {
      const before = await fixture.readBalance();
      const end = Math.floor(Date.now() / 1000) + 60;
      await holdBlocks();
      const settling = settle(await method.pay({ validBefore: BigInt(end) }));
      await fixture.waitForTransaction();
      // The last of these rows, because the chain's clock is a minute ahead from here on.
      await fixture.rpc('evm_setNextBlockTimestamp', [numberToHex(end + 1)]);
      await mineAgain();
      expect(await settling).toMatchObject({ outcome: 'failed' });
      expect(await fixture.readBalance()).toBe(before);
    });
  });

  describe(`a payment by ${method.name} whose block is replaced before it is confirmed`, () => {
    // However long a busy machine takes, nothing is signed again.
    const env = { CONFIRMATIONS: String(CONFIRMATIONS), RELAYER_REPLACE_AFTER_MS: '120000' };
    let redis: Redis;

    beforeAll(async () => {
      fixture = await SettlementFixture.start();
      redis = new Redis(fixture.redis.url);
      await method.prepare?.();
      await fixture.startVerifier(env);
    });
    afterAll(async () => {
      redis.disconnect();
      await fixture.stop();
    });
    beforeEach(holdBlocks);
    afterEach(mineAgain);

    const mine = (blocks = 1) => fixture.rpc('anvil_mine', [numberToHex(blocks)]);
    const settleConfirmed = (payment: Payment) => settle(payment, moves, { settings: settingsOf(fixture.chain, env) });
    const settleUntilKnown = async (payment: Payment): Promise<SettlementResult> => {
      const result = await settleConfirmed(payment);
      return result.outcome === 'pending' ? settleUntilKnown(payment) : result;
    };
    /** The transaction of the settlement once it is in this state, and all that were signed for it. */
    const waitForJob = async (state: JobRecord['state']): Promise<{ mined?: Hex | undefined; signed: Hex[] }> => {
      const journal = new Journal({ redis, fleet: RELAYER_FLEET });
      const lane = createLaneId(fixture.chain.chainId, fixture.relayer().address);
      let steps: JobRecord['steps'] = [];
      await waitFor(`a settlement that is ${state}`, async () => {
        const [flight] = await journal.readInFlight(lane);
        const job = flight ? await journal.readJob(flight.jobId) : null;
        steps = job?.steps ?? [];
        return job?.state === state;
      });
      return {
        mined: steps[0]?.mined?.hash,
        signed: steps.flatMap(({ attempts }) => attempts.map(({ hash }) => hash)),
      };
    };
    /** Its transaction is in a block, and then in none. */
    const settleAndReplace = async (payment: Payment) => {
      const first = settleUntilKnown(payment);
      await waitForJob('BROADCAST');
      await mine();
      const { mined: hash } = await waitForJob('MINED');
      await fixture.rpc('anvil_reorg', [1, []]);
      await waitFor('the settlement in the pool again', async () => {
        const found = (await fixture.rpc('eth_getTransactionByHash', [hash])) as { blockHash: Hex | null } | null;
        return found?.blockHash === null;
      });
      return { first, txHash: hash };
    };

    it('is sent again as it was, and answered once that is confirmed', async () => {
      const before = await fixture.readBalance();
      const payment = await method.pay();
      const { first, txHash } = await settleAndReplace(payment);
      await mine();
      expect((await waitForJob('MINED')).signed).toEqual([txHash]);
      const soon = { settings: settingsOf(fixture.chain, env), deadlineMs: Date.now() + 500 };
      expect(await settle(payment, moves, soon)).toEqual({ outcome: 'pending', txHash });
      await mine(CONFIRMATIONS - 1);
      expect(await first).toMatchObject({ outcome: 'settled', txHash });
      expect(await settleConfirmed(payment)).toEqual(await first);
      expect(await fixture.readBalance()).toBe(before + moves);
    });

    byAnyone('is charged once if a third party has sent it by then', async () => {
      const before = await fixture.readBalance();
      const payment = await method.pay();
      const { first } = await settleAndReplace(payment);
      const theirs = await sendFirst(fixture.payer(7).address, method.call(payment, moves));
      await mine(CONFIRMATIONS);
      expect(await first).toMatchObject({ outcome: 'settled', txHash: theirs });
      expect(await fixture.readBalance()).toBe(before + moves);
    });

    it('fails if its payer has moved its balance away by then', async () => {
      const before = await fixture.readBalance();
      const payment = await method.pay();
      const { first } = await settleAndReplace(payment);
      await flee(fixture.payer());
      await mine(CONFIRMATIONS);
      expect(await first).toMatchObject({ outcome: 'failed', failure: method.tooPoor });
      expect(await fixture.readBalance()).toBe(before);
    });
  });
}
