import { Logger } from '@nestjs/common';
import type { Balance } from '@tollgate/book';
import type { Hex } from '@tollgate/protocol';

import { authorizationId, hashOf } from '../../../../libs/book/test/sample-events.js';
import { startRpcStandIn, type RpcStandIn } from '../../../../libs/chain/test/rpc-stand-in.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { NOT_DONE, tollgate } from '../../../../tools/cli/test/run-tollgate.js';
import { waitUntilMined } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { ReconcileFixture } from '../../test/reconcile-fixture.js';

describe('reconciling while something fails', () => {
  let fixture: ReconcileFixture;
  let rpc: RpcStandIn;
  let env: Record<string, string>;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await ReconcileFixture.start(async (chain) => (rpc = await startRpcStandIn(chain.rpcUrl)).url);
    env = { OPERATOR_URL: fixture.bookkeeper.url, OPERATOR_API_KEY: fixture.token };
  });

  afterEach(async () => {
    rpc.fail(undefined);
    expect(await fixture.verify()).toBeNull();
  });

  afterAll(async () => {
    await fixture.stop();
    await rpc.stop();
  });

  const relayer = (): string => fixture.chain.relayers[0]?.address.toLowerCase() ?? '';

  /** Wei by account. */
  async function readNative(): Promise<Record<string, bigint>> {
    const { balances } = await fixture.get<{ balances: Balance[] }>('/operator/balances');
    const own = balances.filter(({ asset }) => asset.endsWith(':native'));
    return Object.fromEntries(own.map(({ account, amount }) => [account, BigInt(amount)]));
  }

  it.each([
    ['cannot be reached', { kind: 'reset' }],
    ['answers with an error page', { kind: 'status', status: 503 }],
    ['answers half', { kind: 'truncate' }],
  ] as const)('goes on where it ended when the RPC server %s for a while', async (_, fault) => {
    rpc.fail(fault);
    const transaction = await fixture.pay();
    await waitFor('it is noticed', async () => (await fixture.read()).trouble !== null);
    await expect(tollgate(['reconcile'], env)).rejects.toMatchObject(NOT_DONE);
    rpc.fail(undefined);
    await fixture.waitForState(fixture.nameOf(transaction), 'unclaimed');
    expect(await fixture.waitUntilCompared()).toMatchObject({ trouble: null, unreconciled: [] });
    expect(await tollgate(['reconcile'], env)).toMatch(/^On the chain only: nothing\.$[^]*^Difference: 0\.$/m);
  });

  it('counts an event once that comes twice', async () => {
    const transaction = await fixture.pay(2_000n);
    const ids = [
      await fixture.answer(transaction, { amount: '2000' }),
      await fixture.answer(transaction, { amount: '2000' }),
    ];
    await fixture.waitForState(ids[0] ?? '', 'answered');
    expect(await fixture.waitUntilCompared()).toMatchObject({ chainOnly: [], bookOnly: [], different: [] });
  });

  it('names a payment that was booked a second time for one transfer', async () => {
    const transaction = await fixture.pay(4_000n);
    await fixture.answer(transaction, { amount: '4000' });
    const other = await fixture.answer(transaction, { id: authorizationId(9), amount: '4000' });
    await waitFor('it is listed', async () => (await fixture.read()).bookOnly.length === 1);
    const listed = (await fixture.read()).bookOnly[0];
    expect([fixture.nameOf(transaction), other]).toContain(listed?.subject);
    expect(listed).toMatchObject({ amount: '4000', reason: 'no_transfer_left' });
    await expect(tollgate(['reconcile', '--json'], env)).rejects.toThrow(/differ in 1 place/);
    expect(await tollgate(['reconcile', '--to', '2020-01-01'], env)).toMatch(/In the book only: nothing/);
  });

  it('books the gas of a transaction that no event has reported', async () => {
    await fixture.books.redis.sadd('tollgate:{relayers}:lanes', `${fixture.chain.chainId}:${relayer()}`);
    // Two comparisons, so that the second one began after the account was known.
    for (let seen = 0; seen < 2; seen++) {
      const { comparedAt } = await fixture.read();
      await waitFor('another comparison', async () => (await fixture.read()).comparedAt !== comparedAt);
    }
    const transaction = { from: relayer(), to: fixture.payer(), value: '0x7', gas: '0x5208' };
    const hash = (await callRpc(fixture.chain.rpcUrl, 'eth_sendTransaction', [transaction])) as Hex;
    await waitUntilMined(fixture.chain, hash);
    await waitFor('it is booked', async () => (await readNative())[`jobs:${relayer()}`] === 7n);
    const receipt = (await callRpc(fixture.chain.rpcUrl, 'eth_getTransactionReceipt', [hash])) as Record<
      string,
      string
    >;
    const gas = BigInt(receipt['gasUsed'] ?? '0') * BigInt(receipt['effectiveGasPrice'] ?? '0');
    expect(await readNative()).toEqual({
      [`gas:${relayer()}`]: gas,
      [`jobs:${relayer()}`]: 7n,
      [`chain:${fixture.chain.chainId}:${relayer()}`]: -gas - 7n,
    });
  });

  it('takes the gas from the receipt, and takes it back when no block has the transaction', async () => {
    const before = await readNative();
    const [known, unknown] = [await fixture.pay(1_000n), hashOf(4_321)];
    const sender = fixture.payer();
    const facts = { relayer: sender, nonce: 1_000, payments: [] };
    await fixture.settle([], { ...facts, transaction: known, effectiveGasPrice: null });
    await fixture.settle([], { ...facts, transaction: unknown, nonce: 1_001 });
    const receipt = (await callRpc(fixture.chain.rpcUrl, 'eth_getTransactionReceipt', [known])) as Record<
      string,
      string
    >;
    const gas = BigInt(receipt['gasUsed'] ?? '0') * BigInt(receipt['effectiveGasPrice'] ?? '0');
    await waitFor('the gas is corrected', async () => (await readNative())[`gas:${sender}`] === gas);
    expect(await readNative()).toEqual({
      ...before,
      [`gas:${sender}`]: gas,
      [`chain:${fixture.chain.chainId}:${sender}`]: -gas,
    });
  });
});
