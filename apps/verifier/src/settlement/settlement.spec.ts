import { listRefusals } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { submitAuthorization } from '../../../../libs/verification/test/sign-authorization.js';
import { startRpcProxy, type RpcCall } from '../../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

/** Accepts every signature, and burns all its gas if it is given more than half a million. */
const LAVISH: Hex = '0x5a6207a12010601957631626ba7e60e01b60005260206000f35bfe';

interface PendingBlock {
  transactions: Hex[];
}

describe('settling signed payments', () => {
  let fixture: SettlementFixture;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    await fixture.startVerifier();
  });

  afterAll(() => fixture.stop());

  it('moves the signed amount, once, however often it is asked', async () => {
    const before = await fixture.readBalance();
    const payment = await fixture.sign();
    const results = await Promise.all(Array.from({ length: 20 }, () => fixture.settle(payment)));
    const [first] = results;
    expect(first).toMatchObject({ outcome: 'settled', payer: payment.authorization.from, amountBaseUnits: '1000' });
    expect(results.every((result) => JSON.stringify(result) === JSON.stringify(first))).toBe(true);
    expect(await fixture.settle(payment)).toEqual(first);
    expect(await fixture.readBalance()).toBe(before + 1000n);
  });

  // Prevents: a repeated question comes too late and is answered as if nothing was sent, although something was.
  it('answers a question after its deadline with pending', async () => {
    const late = { deadlineMs: Date.now() - 1 };
    await fixture.rpc('evm_setAutomine', [false]);
    const payment = await fixture.sign();
    const settling = fixture.settle(payment);
    let txHash: Hex | undefined;
    await waitFor('a settlement in the pool', async () => {
      const { transactions } = (await fixture.rpc('eth_getBlockByNumber', ['pending', false])) as PendingBlock;
      txHash = transactions.at(-1);
      return txHash !== undefined;
    });
    const soon = { deadlineMs: Date.now() + 500 };
    for (const asked of [soon, late]) {
      expect(await fixture.settle(payment, asked)).toEqual({ outcome: 'pending', txHash });
    }
    expect(await fixture.settle(await fixture.sign(), late)).toEqual({ outcome: 'pending', txHash: null });
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
    expect(await settling).toMatchObject({ outcome: 'settled', txHash });
  });

  // Prevents: a payer's code that uses all gas it is given keeps the RPC server busy with a whole block's worth.
  it('simulates a payment with no more gas than it may take', async () => {
    const from: Hex = `0x${'79'.repeat(20)}`;
    await fixture.rpc('anvil_setCode', [from, LAVISH]);
    await transferTokens(fixture.chain, { to: from, amountBaseUnits: 1000n });
    const payment = { ...(await fixture.sign({ from })), signature: '0x12' as const };
    expect(await fixture.settle(payment)).toMatchObject({ outcome: 'settled', payer: from });
  });
});

describe('settling a signed payment that another account has sent, behind an RPC server without its logs', () => {
  // Prevents: the payment is refused, its payer signs another one, and the money that has moved is not on record.
  it('records it for a refund', async () => {
    const fixture = await SettlementFixture.start();
    const proxy = await startRpcProxy(fixture.chain.rpcUrl);
    try {
      proxy.intercept('*', async (call, forward) => {
        const methods = new Map([call as RpcCall & { id: number }].flat().map(({ id, method }) => [id, method]));
        const reply = JSON.parse(await forward()) as { id: number; result?: unknown };
        const without = (one: typeof reply) => (methods.get(one.id) === 'eth_getLogs' ? { ...one, result: [] } : one);
        return { body: JSON.stringify(Array.isArray(reply) ? reply.map(without) : without(reply)) };
      });
      await fixture.startVerifier({ RPC_URL: proxy.rpcUrl });
      const payment = await fixture.sign();
      await submitAuthorization(fixture.chain, payment);
      expect(await fixture.settle(payment)).toMatchObject({ outcome: 'failed', failure: 'payment_too_old' });
      const redis = new Redis(fixture.redis.url);
      const refusals = await listRefusals(redis);
      redis.disconnect();
      expect(refusals).toMatchObject([
        { failure: 'payment_too_old', payer: payment.authorization.from, amountBaseUnits: '1000' },
      ]);
    } finally {
      await fixture.stop();
      await proxy.stop();
    }
  }, 60_000);
});
