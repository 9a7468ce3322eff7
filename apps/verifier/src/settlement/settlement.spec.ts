import { listRefusals } from '@tollgate/ledger';
import type { Hex, SignedPayment } from '@tollgate/protocol';
import { Redis } from 'ioredis';
import { numberToHex, parseGwei } from 'viem';

import { eip3009 } from '../../../../libs/verification/test/conformance/eip3009.js';
import type { SignedMethod } from '../../../../libs/verification/test/conformance/payment-method.js';
import { permit2 } from '../../../../libs/verification/test/conformance/permit2.js';
import { submitAuthorization } from '../../../../libs/verification/test/sign-authorization.js';
import { startRpcProxy, type RpcCall, type RpcProxy } from '../../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { describeSettlement } from '../../test/describe-settlement.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

/** Accepts every signature, and burns all its gas if it is given more than half a million. */
const LAVISH: Hex = '0x5a6207a12010601957631626ba7e60e01b60005260206000f35bfe';

/** In place of a result: the server refuses the call. */
const REFUSED = Symbol('refused');
const HEADER_NOT_FOUND = { code: -32000, message: 'header not found' };

/** Answers these calls with these results instead of the chain's; undefined leaves the chain's. */
function answerInstead(proxy: RpcProxy, resultOf: (call: RpcCall) => unknown): void {
  proxy.intercept('*', async (asked, forward) => {
    const calls = new Map([asked as RpcCall & { id: number }].flat().map((call) => [call.id, call]));
    const reply = JSON.parse(await forward()) as { id: number } | { id: number }[];
    const replace = (one: { id: number }) => {
      const call = calls.get(one.id);
      const result = call && resultOf(call);
      if (result === undefined) return one;
      return { jsonrpc: '2.0', id: one.id, ...(result === REFUSED ? { error: HEADER_NOT_FOUND } : { result }) };
    };
    return { body: JSON.stringify(Array.isArray(reply) ? reply.map(replace) : replace(reply)) };
  });
}

describeSettlement(eip3009);

describe('settling signed payments', () => {
  let fixture: SettlementFixture;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    await fixture.startVerifier();
  });

  afterAll(() => fixture.stop());

  // Prevents: a payer's code that uses all gas it is given keeps the RPC server busy with a whole block's worth.
  it('simulates a payment with no more gas than it may take', async () => {
    const from: Hex = `0x${'79'.repeat(20)}`;
    await fixture.rpc('anvil_setCode', [from, LAVISH]);
    await transferTokens(fixture.chain, { to: from, amountBaseUnits: 1000n });
    const payment = { ...(await fixture.sign({ from })), signature: '0x12' as const };
    expect(await fixture.settle(payment)).toMatchObject({ outcome: 'settled', payer: from });
  });

  // Prevents: the transaction is mined in a block before the start, where it reverts and burns the relayer's gas.
  it('sends nothing before the chain is past the start of validity', async () => {
    await fixture.rpc('evm_mine');
    const { timestamp } = (await fixture.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex };
    const validAfter = Number(timestamp) + 1;
    await waitFor('a second after the start', () => Promise.resolve(Date.now() / 1000 > validAfter + 1));
    const proxy = await startRpcProxy(fixture.chain.rpcUrl);
    let asked = 0;
    await fixture.closeVerifiers();
    answerInstead(proxy, ({ method, params }) =>
      method === 'eth_call' && params[1] === 'pending' && ++asked ? REFUSED : undefined,
    );
    await fixture.startVerifier({ RPC_URL: proxy.rpcUrl });
    const sent = await fixture.readSent();
    const settling = fixture.settle(await fixture.sign({ validAfter: String(validAfter) }));
    await waitFor('a second look', () => Promise.resolve(asked > 2));
    expect(await fixture.readSent()).toBe(sent);
    await fixture.rpc('evm_mine');
    expect(await settling).toMatchObject({ outcome: 'settled' });
    await fixture.closeVerifiers();
    await proxy.stop();
  });
});

describe('settling a signed payment that another account has sent, behind an RPC server without its logs', () => {
  // Prevents: the payment is refused, its payer signs another one, and the money that has moved is not on record.
  it('records it for a refund', async () => {
    const fixture = await SettlementFixture.start();
    const proxy = await startRpcProxy(fixture.chain.rpcUrl);
    try {
      answerInstead(proxy, ({ method }) => (method === 'eth_getLogs' ? [] : undefined));
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
  });
});

describe('settling again what another verifier has settled, behind an RPC server that lags behind', () => {
  /** `authorizationState(address,bytes32)` and `nonceBitmap(address,uint256)` */
  const NONCE_STATES = ['0xe94a0102', '0x4fe02b44'];
  const SIGHTINGS = new Set(['eth_getTransactionReceipt', 'eth_getTransactionByHash']);
  let fixture: SettlementFixture;
  let proxy: RpcProxy;

  beforeEach(async () => {
    fixture = await SettlementFixture.start();
    proxy = await startRpcProxy(fixture.chain.rpcUrl);
    await fixture.startVerifier();
  });

  afterEach(async () => {
    await fixture.stop();
    await proxy.stop();
  });

  /** Another verifier takes over, whose server has this head and shows every nonce as free in its newest state. */
  async function takeOver(head: Hex, { showsTransactions }: { showsTransactions: boolean }): Promise<void> {
    await fixture.closeVerifiers();
    answerInstead(proxy, ({ method, params }) => {
      if (method === 'eth_blockNumber') return head;
      if (SIGHTINGS.has(method) && !showsTransactions) return null;
      const [{ data = '' } = {}, block] = params as [{ data?: string }?, unknown?];
      const isNonce = method === 'eth_call' && NONCE_STATES.some((selector) => data.startsWith(selector));
      return isNonce && block === 'latest' ? numberToHex(0, { size: 32 }) : undefined;
    });
    await fixture.startVerifier({ RPC_URL: proxy.rpcUrl });
  }

  // Prevents: a payment that was settled is answered as failed, and its payer signs another one.
  it.each([false, true])('does not fail; the server shows its transactions: %s', async (showsTransactions) => {
    const head = (await fixture.rpc('eth_blockNumber')) as Hex;
    const payment = await fixture.sign();
    const settled = await fixture.settle(payment);
    expect(settled).toMatchObject({ outcome: 'settled' });
    const [sent, received] = [await fixture.readSent(), await fixture.readBalance()];
    await takeOver(head, { showsTransactions });
    const { txHash } = settled as { txHash: Hex };
    expect(await fixture.settle(payment)).toEqual(showsTransactions ? settled : { outcome: 'pending', txHash });
    proxy.reset();
    expect(await fixture.settle(payment)).toEqual(settled);
    expect([await fixture.readSent(), await fixture.readBalance()]).toEqual([sent, received]);
  });

  // Prevents: the same, where the transaction of another account was first.
  const neverFailsEarly = async <Payment extends SignedPayment>(method: SignedMethod<Payment>): Promise<void> => {
    await method.prepare?.();
    const payment = await method.pay();
    const settle = () => fixture.settle(payment);
    const before = (await fixture.rpc('eth_blockNumber')) as Hex;
    await fixture.rpc('evm_setAutomine', [false]);
    const settling = settle();
    await fixture.waitForTransaction();
    const fees = { maxPriorityFeePerGas: numberToHex(parseGwei('90')), maxFeePerGas: numberToHex(parseGwei('100')) };
    const theirs = await fixture.rpc('eth_sendTransaction', [
      { from: fixture.payer(7).address, ...method.call(payment), gas: numberToHex(300_000), ...fees },
    ]);
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
    const settled = await settling;
    expect(settled).toMatchObject({ outcome: 'settled', txHash: theirs });
    await takeOver(before, { showsTransactions: true });
    expect(await settle()).toMatchObject({ outcome: 'pending' });
    // A balancer may ask one server for the head, and for the nonce one that has not seen the block.
    await takeOver((await fixture.rpc('eth_blockNumber')) as Hex, { showsTransactions: true });
    expect(await settle()).toEqual(settled);
    // A server that refuses calls at a block's number is asked for its newest state, once none can lag that far behind.
    await fixture.closeVerifiers();
    let refusals = 0;
    answerInstead(proxy, ({ method, params }) =>
      method === 'eth_call' && String(params[1]).startsWith('0x') && ++refusals ? REFUSED : undefined,
    );
    await fixture.startVerifier({ RPC_URL: proxy.rpcUrl });
    const asking = settle();
    await waitFor('a refused call', () => Promise.resolve(refusals > 0));
    await fixture.rpc('anvil_mine', ['0x40', '0x1']);
    expect(await asking).toEqual(settled);
  };
  it.each([
    ['an authorization', () => neverFailsEarly(eip3009(() => fixture.chain))],
    ['a permit', () => neverFailsEarly(permit2(() => fixture.chain, 'exact'))],
  ])('does not fail %s until the server has seen the block of the transaction that failed', async (_, check) =>
    check(),
  );
});
