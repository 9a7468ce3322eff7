import { createLaneId } from '@tollgate/journal';
import { Refunds, type RefundOption } from '@tollgate/refunds';

import {
  ASSET,
  hashOf,
  MemoryChain,
  NO_CAPS,
  OTHER,
  PAYER,
  RefundWorld,
  SHOP,
  transferLog,
  WALLET,
} from '../test/refund-world.js';

const BASE = 8453;
const WETH = OTHER;
const WETH_UNIT = 10n ** 18n;
const SECOND_SHOP = `0x${'34'.repeat(20)}` as const;

/** The world's seller, that is paid in another token on another chain too. */
function sellOnBase({ hasWallet = true } = {}) {
  const world = new RefundWorld({ caps: { ...NO_CAPS, each: 10_000n } });
  const base = new MemoryChain(BASE);
  base.decimals = 18n;
  const caps = { ...NO_CAPS, each: WETH_UNIT };
  const settings = { ...world.ports.settings, asset: WETH, decimals: 18, caps, walletName: 'refunds-base' };
  const wallet = hasWallet ? { name: 'refunds-base', lane: createLaneId(BASE, WALLET) } : null;
  const findWallet = async () => wallet;
  const option: RefundOption = { ...world.ports, chain: base, settings, findWallet };
  world.refunds = new Refunds(world.ports, [world.ports, option]);
  /** A transfer of the other token that the ledger refuses; the payment's name. */
  const payOnBase = (amount = WETH_UNIT): string => {
    const transaction = hashOf(1);
    const receipt = {
      ...{ txHash: transaction, status: 'success', from: PAYER, blockNumber: 5, blockHash: hashOf(5), blockTimeMs: 1 },
      logs: [transferLog(PAYER, SHOP, amount, WETH)],
    };
    base.transactions.set(transaction, { receipt, to: WETH, input: '0x' } as never);
    const id = { kind: 'transfer', chainId: BASE, txHash: transaction, logIndex: 0 } as const;
    const payment = world.note(id, transaction, { amount });
    Object.assign(world.book.paymentOf(payment), { asset: WETH });
    return payment;
  };
  return { world, base, payOnBase };
}

describe('refunds of a seller that is paid in several tokens', () => {
  it('are sent on the chain of the payment, in its token, by the wallet there', async () => {
    const { world, payOnBase } = sellOnBase();
    const refund = await world.ask(payOnBase());
    expect(refund).toMatchObject({ state: 'sending', chainId: BASE, asset: WETH, amount: String(WETH_UNIT) });
    const job = world.journal.jobOf(refund.job);
    expect([job.lane.chainId, job.wallet, job.input]).toMatchObject([BASE, 'refunds-base', { token: WETH }]);
    const other = await world.ask(world.payRefused());
    const otherJob = world.journal.jobOf(other.job);
    expect([otherJob.lane.chainId, otherJob.wallet, otherJob.input]).toMatchObject([1328, 'refunds', { token: ASSET }]);
  });

  it('have the limits and the decimals of their token', async () => {
    const { world, payOnBase } = sellOnBase();
    const payment = payOnBase(2n * WETH_UNIT);
    expect(await world.refunds.preview(payment)).toMatchObject({ chainId: BASE, decimals: 18, asset: WETH });
    await expect(world.ask(payment)).rejects.toMatchObject({
      message: expect.stringContaining('Only 1 is left') as unknown,
      members: { reason: 'over_cap', cap: 'each', left: String(WETH_UNIT) },
    });
    await world.ask(payment, { amount: '1' });
    expect(await world.refunds.readToday({ chainId: BASE, asset: WETH })).toBe(1n);
    expect(await world.refunds.readToday({ chainId: 1328, asset: ASSET })).toBe(0n);
  });

  it('name the wallet that the chain lacks', async () => {
    const { world, payOnBase } = sellOnBase({ hasWallet: false });
    expect((await world.refunds.preview(payOnBase())).obstacles).toEqual([
      { reason: 'wallet_missing', detail: 'No agent worker has a wallet named refunds-base.' },
    ]);
  });

  it('say what the seller wrote of the option that they are no payment of', async () => {
    const names = { token: 'accepts.usdc.token', payTo: 'accepts.usdc.payTo', decimals: 'accepts.usdc.decimals' };
    const world = new RefundWorld({ names });
    const obstaclesOf = async (change: object): Promise<string[]> => {
      const payment = world.payRefused();
      Object.assign(world.book.paymentOf(payment), change);
      return (await world.refunds.preview(payment)).obstacles.map(({ detail }) => detail);
    };
    expect(await obstaclesOf({ asset: OTHER })).toContain(
      'Its token is none that is sold in: accepts.usdc.token is another one.',
    );
    expect(await obstaclesOf({ recipient: OTHER })).toContain('It went to no account of accepts.usdc.payTo.');
    world.chain.decimals = 18n;
    expect(await obstaclesOf({})).toEqual([
      expect.stringMatching(/^accepts\.usdc\.decimals is 6, but the token has 18/),
    ]);
  });

  it('are of payments to each account that the token is paid to, and of no other', async () => {
    const world = new RefundWorld({ recipients: [SHOP, SECOND_SHOP] });
    const payTo = (recipient: typeof SHOP): string => {
      const txHash = world.mine([transferLog(PAYER, recipient, 10_000n)], { from: PAYER });
      const payment = world.note({ kind: 'transfer', chainId: 1328, txHash, logIndex: 0 }, txHash);
      Object.assign(world.book.paymentOf(payment), { recipient });
      return payment;
    };
    for (const recipient of [SHOP, SECOND_SHOP])
      expect(await world.ask(payTo(recipient))).toMatchObject({ state: 'sending', recipient: PAYER });
    await expect(world.ask(payTo(OTHER))).rejects.toMatchObject({
      members: {
        obstacles: expect.arrayContaining([expect.objectContaining({ reason: 'other_recipient' })]) as unknown,
      },
    });
  });

  it('go on with one chain while the other does not answer', async () => {
    const { world, base, payOnBase } = sellOnBase();
    const held = payOnBase();
    Object.assign(base, { readTransaction: () => Promise.reject(new Error('no RPC server answers')) });
    await expect(world.ask(held)).rejects.toThrow('no RPC server answers');
    expect(await world.ask(world.payRefused())).toMatchObject({ state: 'sending', chainId: 1328 });
  });

  it('send nothing for a payment in a token that is not accepted any more', async () => {
    const { world, payOnBase } = sellOnBase();
    const payment = payOnBase();
    world.refunds = new Refunds(world.ports, [world.ports]);
    await expect(world.ask(payment)).rejects.toMatchObject({ code: 'refund_refused' });
    expect(world.journal.jobs.size).toBe(0);
  });
});
