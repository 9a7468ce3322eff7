import { Logger } from '@nestjs/common';
import type { Balance, PaymentPage, PaymentPicture } from '@tollgate/book';
import { nameOfPayment } from '@tollgate/ledger';
import type { OperatorRefund, ReconcileAnswer, Trouble } from '@tollgate/operator-api';
import type { Hex } from '@tollgate/protocol';
import type { RefundPreview } from '@tollgate/refunds';

import { waitFor } from '../../../../test/harness/retry.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { PRICE, RefundFixture } from '../../test/refund-fixture.js';

/** The address at which the token's own code is put. */
const PLAIN_TOKEN: Hex = `0x${'71'.repeat(20)}`;
/** Asks the recipient of a `transfer`, as ERC-777 does, and reverts if that does; then does what the token does. */
const ASKING_TOKEN: Hex = `0x5f3560e01c63a9059cbb1415601e575f5f5f5f6004355afa601e575f5ffd5b365f5f375f5f365f73${PLAIN_TOKEN.slice(2)}5af43d5f5f3e6048573d5ffd5b3d5ff3`;
const SAYS_NO: Hex = '0x5f5ffd';
const NO_CODE = '0x';

describe('a refund that the chain does not carry out', () => {
  let fixture: RefundFixture;
  let token: string;
  let approver: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await RefundFixture.start();
    const { asset, rpcUrl } = fixture.chain;
    await setCode(PLAIN_TOKEN, await rpc<Hex>('eth_getCode', [asset, 'latest']));
    await setCode(asset, ASKING_TOKEN);
    token = await fixture.base.createToken('operator:read', 'operator:refund');
    approver = await fixture.base.createToken('operator:approve');
    const reconcile = { RECONCILE_CONFIRMATIONS: '1', RECONCILE_GRACE_SECONDS: '0', RECONCILE_INTERVAL_MS: '50' };
    await fixture.startBookkeeper({ RECONCILE_RPC_URL: rpcUrl, ...reconcile });
    await fixture.startWorker();
  }, 120_000);

  afterEach(async () => {
    await rpc('evm_setAutomine', [true]);
    await expectWhole();
  });

  afterAll(() => fixture.stop());

  const rpc = <T>(method: string, params: unknown[] = []): Promise<T> =>
    callRpc(fixture.chain.rpcUrl, method, params) as Promise<T>;
  const setCode = (address: Hex, code: Hex): Promise<unknown> => rpc('anvil_setCode', [address, code]);
  const read = async <T>(path: string): Promise<T> => (await fixture.get<T>(`/operator/${path}`, token)).body;
  const readGas = async (): Promise<bigint> => {
    const { balances } = await read<{ balances: Balance[] }>('balances');
    const gas = balances.find(({ account }) => account === `gas:${fixture.lane.address}`);
    return BigInt(gas?.amount ?? '0');
  };
  const readSent = async (): Promise<number> =>
    Number(await rpc('eth_getTransactionCount', [fixture.lane.address, 'latest']));

  /** The entries sum to zero, the chain of hashes verifies, and nothing differs from the chain. */
  async function expectWhole(): Promise<void> {
    expect(await read('verification')).toMatchObject({ broken: null });
    const sums = new Map<string, bigint>();
    const { balances } = await read<{ balances: Balance[] }>('balances');
    for (const { asset, amount } of balances) sums.set(asset, (sums.get(asset) ?? 0n) + BigInt(amount));
    expect([...sums.values()]).toEqual([...sums].map(() => 0n));
    const head = Number(await rpc('eth_blockNumber'));
    let compared: ReconcileAnswer | undefined;
    await waitFor('all is compared', async () => {
      compared = await read<ReconcileAnswer>('reconcile');
      const { block, waiting } = compared;
      return block !== null && block >= head && waiting.transfers + waiting.payments === 0;
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}: head ${head}, ${JSON.stringify(compared)}`);
    });
    expect(await read('reconcile')).toMatchObject({ chainOnly: [], bookOnly: [], different: [], unreconciled: [] });
  }

  async function payRefused(payer: Hex): Promise<string> {
    const id = await fixture.pay(payer);
    await fixture.refuse(id);
    return nameOfPayment(id);
  }

  const ask = async (payment: string): Promise<OperatorRefund> =>
    (await fixture.post<OperatorRefund>('/operator/refunds', token, { payment })).body;
  const retry = async ({ id }: OperatorRefund): Promise<OperatorRefund> =>
    (await fixture.post<OperatorRefund>(`/operator/refunds/${id}/retry`, token)).body;

  it('has failed once its transaction is mined and reverted; it costs gas, moves nothing, and can be sent again', async () => {
    const payer = fixture.chain.accounts[1]!.address;
    const payment = await payRefused(payer);
    const [before, gas, sent] = [await fixture.balanceOf(payer), await readGas(), await readSent()];
    await rpc('evm_setAutomine', [false]);
    const asked = await ask(payment);
    await waitFor('it is in the pool', async () => {
      await fixture.wakeAll();
      return Number(await rpc('eth_getTransactionCount', [fixture.lane.address, 'pending'])) > sent;
    });
    // The account is given code, as by EIP-7702, between the estimate and the block.
    await setCode(payer, SAYS_NO);
    await rpc('evm_mine');
    const failed = await fixture.waitForRefund(asked.id, 'failed', token);
    expect(failed).toMatchObject({ attempt: 1, jobState: 'REVERTED', transaction: null });
    expect(failed.detail).toMatch(/reverted/);
    await waitFor('its gas is booked', async () => (await readGas()) > gas);
    expect(await fixture.balanceOf(payer)).toBe(before);
    expect(await read<PaymentPicture>(`payments/${payment}`)).toMatchObject({ state: 'refunding', refunded: '0' });
    // Its amount stays kept for it until it is given up.
    expect(await read<RefundPreview>(`payments/${payment}/refund`)).toMatchObject({
      left: '0',
      arrived: String(PRICE),
    });
    await rpc('evm_setAutomine', [true]);
    await expectWhole();

    await setCode(payer, NO_CODE);
    expect(await retry(failed)).toMatchObject({ attempt: 2 });
    const refund = await fixture.waitForRefund(asked.id, 'refunded', token);
    expect(refund.job).not.toBe(failed.job);
    expect((await fixture.balanceOf(payer)) - before).toBe(PRICE);
    expect((await readSent()) - sent).toBe(2);
    await waitFor('it is booked', async () => {
      return (await read<PaymentPicture>(`payments/${payment}`)).refunded === String(PRICE);
    });
  });

  it('has failed before anything is sent where the contract of the payer reverts, and may be given up for another', async () => {
    const payer = fixture.chain.accounts[2]!.address;
    const payment = await payRefused(payer);
    await setCode(payer, SAYS_NO);
    const [before, sent] = [await fixture.balanceOf(payer), await readSent()];
    const asked = await ask(payment);
    expect(asked.doubts).toEqual([expect.stringContaining('contract')]);
    const failed = await fixture.waitForRefund(asked.id, 'failed', token);
    expect(failed).toMatchObject({ jobState: 'PLAN_FAILED', transaction: null, detail: expect.any(String) });
    expect([await fixture.balanceOf(payer), await readSent()]).toEqual([before, sent]);
    const { troubles } = await read<{ troubles: Trouble[] }>('health');
    expect(troubles).toContainEqual(
      expect.objectContaining({ mend: expect.stringContaining('tollgate refunds retry') }),
    );
    // The job itself cannot be repeated beside the refund.
    const retried = await fixture.post(`/operator/jobs/${failed.job}/retry`, approver);
    expect(retried).toMatchObject({ status: 409, body: { code: 'job_state' } });
    const { body } = await fixture.post(`/operator/refunds/${asked.id}/give-up`, token);
    expect(body).toMatchObject({ state: 'given_up' });
    expect(await read<RefundPreview>(`payments/${payment}/refund`)).toMatchObject({
      number: 2,
      left: String(PRICE),
      recipient: { kind: 'contract' },
    });
    const listOwed = async () => (await read<PaymentPage>('payments?owed=true')).payments.map(({ id }) => id);
    expect(await listOwed()).toContain(payment);
    const countClosed = async () =>
      (await read<{ troubles: Trouble[] }>('health')).troubles.filter(({ about }) => about === 'owed').length;
    expect(await countClosed()).toBe(1);

    await setCode(payer, NO_CODE);
    const second = await fixture.post<OperatorRefund>('/operator/refunds', token, { payment, number: 2 });
    await fixture.waitForRefund(second.body.id, 'refunded', token);
    expect((await fixture.balanceOf(payer)) - before).toBe(PRICE);
    await waitFor('it is booked', async () => {
      return (await read<PaymentPicture>(`payments/${payment}`)).refunded === String(PRICE);
    });
    expect(await listOwed()).not.toContain(payment);
    expect(await countClosed()).toBe(0);
  });

  it('waits for another person where the payer is a contract that accepts it, and may fail after the approval', async () => {
    const payer = fixture.chain.accounts[3]!.address;
    const payment = await payRefused(payer);
    // Returns at once, whatever it is asked.
    await setCode(payer, '0x00');
    const [before, sent] = [await fixture.balanceOf(payer), await readSent()];
    const asked = await ask(payment);
    const { job, planDigest } = await fixture.waitForApproval(asked.id, token);
    await setCode(payer, SAYS_NO);
    const approved = await fixture.post(`/operator/jobs/${job}/approve`, approver, { plan: planDigest });
    expect(approved.status).toBe(200);
    const failed = await fixture.waitForRefund(asked.id, 'failed', token);
    expect(failed).toMatchObject({ attempt: 1, transaction: null });
    expect([await fixture.balanceOf(payer), await readSent()]).toEqual([before, sent]);
    expect(await read<PaymentPicture>(`payments/${payment}`)).toMatchObject({ state: 'refunding', refunded: '0' });
  });
});
