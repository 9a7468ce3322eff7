import { type ContractCall, planPermitTransfer, planTransfer, splitSignature } from '@tollgate/chain';
import { listRefusals } from '@tollgate/ledger';
import type { Hex, SignedPayment } from '@tollgate/protocol';
import { SETTLE_SIGNED_PAYMENT, type SettlementResult } from '@tollgate/transport';
import { Redis } from 'ioredis';
import { numberToHex, parseGwei } from 'viem';

import { submitAuthorization } from '../../../../libs/verification/test/sign-authorization.js';
import { startRpcProxy, type RpcCall, type RpcProxy } from '../../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { approvePermit2, signPermit } from '../../../../tools/devnet/chain/sign-permit.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { MULTICALL3 } from '../../../../tools/devnet/protocols/place-contracts.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

/** Accepts every signature, and burns all its gas if it is given more than half a million. */
const LAVISH: Hex = '0x5a6207a12010601957631626ba7e60e01b60005260206000f35bfe';

interface PendingBlock {
  transactions: Hex[];
}

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
    const readSent = () => fixture.rpc('eth_getTransactionCount', [fixture.relayer().address, 'latest']);
    const sent = await readSent();
    const settling = fixture.settle(await fixture.sign({ validAfter: String(validAfter) }));
    await waitFor('a second look', () => Promise.resolve(asked > 2));
    expect(await readSent()).toEqual(sent);
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

  const readSent = () => fixture.rpc('eth_getTransactionCount', [fixture.relayer().address, 'latest']);

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
    const [sent, received] = [await readSent(), await fixture.readBalance()];
    await takeOver(head, { showsTransactions });
    const { txHash } = settled as { txHash: Hex };
    expect(await fixture.settle(payment)).toEqual(showsTransactions ? settled : { outcome: 'pending', txHash });
    proxy.reset();
    expect(await fixture.settle(payment)).toEqual(settled);
    expect([await readSent(), await fixture.readBalance()]).toEqual([sent, received]);
  });

  async function signAuthorization(): Promise<{ payment: SignedPayment; call: ContractCall }> {
    const payment = await fixture.sign();
    const places = { asset: fixture.chain.asset, multicall3: MULTICALL3, isDeployed: true };
    return { payment, call: planTransfer(payment.authorization, splitSignature(payment.signature)!, places) };
  }

  async function signExactPermit(): Promise<{ payment: SignedPayment; call: ContractCall }> {
    await approvePermit2(fixture.chain, { owner: fixture.payer().address });
    const payment = await signPermit(fixture.chain, fixture.payer(), { amountBaseUnits: 1000n });
    return { payment, call: planPermitTransfer(payment, 1000n) };
  }

  // Prevents: the same, where the transaction of another account was first.
  it.each([
    ['an authorization', signAuthorization],
    ['a permit', signExactPermit],
  ])('does not fail %s until the server has seen the block of the transaction that failed', async (_, sign) => {
    const { payment, call } = await sign();
    const other = await fixture.sign();
    const settle = () => {
      const asked = fixture.createRequest(other, { payment });
      return fixture.client.ask<SettlementResult>(SETTLE_SIGNED_PAYMENT, asked, { timeoutMs: 20_000 });
    };
    const before = (await fixture.rpc('eth_blockNumber')) as Hex;
    await fixture.rpc('evm_setAutomine', [false]);
    const settling = settle();
    await waitFor('a settlement in the pool', async () => {
      const { transactions } = (await fixture.rpc('eth_getBlockByNumber', ['pending', false])) as PendingBlock;
      return transactions.length > 0;
    });
    const fees = { maxPriorityFeePerGas: numberToHex(parseGwei('90')), maxFeePerGas: numberToHex(parseGwei('100')) };
    const theirs = await fixture.rpc('eth_sendTransaction', [
      { from: fixture.payer(7).address, ...call, gas: numberToHex(300_000), ...fees },
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
  });
});
