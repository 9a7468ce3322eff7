import { bundleCalls, planPermitTransfer } from '@tollgate/chain';
import { listRefusals } from '@tollgate/ledger';
import type { Hex, SignedPermit } from '@tollgate/protocol';
import { Redis } from 'ioredis';

import { permit2 } from '../../../../libs/verification/test/conformance/permit2.js';
import { approvePermit2, signPermit, type PermitTerms } from '../../../../test/harness/chain/sign-permit.js';
import { sendTransaction, transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { MULTICALL3 } from '../../../../tools/devnet/protocols/place-contracts.js';
import { describeSettlement } from '../../test/describe-settlement.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

/** A wallet that accepts signatures of 65 bytes of which the last is 1. */
const ACCEPTS_LAST_BYTE_1 = '0x60853560ff16600114631626ba7e60e01b0260005260206000f3';

describeSettlement((devnet) => permit2(devnet, 'exact'));
describeSettlement((devnet) => permit2(devnet, 'upto'));

describe('settling payments by Permit2', () => {
  let fixture: SettlementFixture;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    await fixture.startVerifier();
    await approvePermit2(fixture.chain, { owner: fixture.payer().address });
  });

  afterAll(() => fixture.stop());

  const sign = (terms: Partial<PermitTerms> = {}, signer = fixture.payer()) =>
    signPermit(fixture.chain, signer, { amountBaseUnits: 1000n, ...terms });
  const signMetered = (terms: Partial<PermitTerms> = {}, signer = fixture.payer()) =>
    sign({ facilitator: fixture.relayer().address, ...terms }, signer);
  const settle = (payment: SignedPermit, amount = 1000n) =>
    fixture.settle(payment, { amountBaseUnits: String(amount) });
  const payer = () => fixture.payer().address.toLowerCase();

  it('moves the used amount, and keeps it when another amount is asked for later', async () => {
    const before = await fixture.readBalance();
    const payment = await signMetered();
    const first = await settle(payment, 7n);
    expect(first).toMatchObject({ outcome: 'settled', payer: payer(), amountBaseUnits: '7' });
    expect(await settle(payment, 900n)).toEqual(first);
    expect(await fixture.readBalance()).toBe(before + 7n);
  });

  it('sends nothing to another spender', async () => {
    const payment = await sign({ spender: fixture.payer(3).address });
    expect(await settle(payment)).toEqual({ outcome: 'failed', failure: 'spender_mismatch', txHash: null });
  });

  it('passes the bare recovery bit of an account as v', async () => {
    const payment = await sign();
    const last = Number.parseInt(payment.signature.slice(-2), 16) - 27;
    const signature: Hex = `0x${payment.signature.slice(2, -2)}0${last}`;
    expect(await settle({ ...payment, signature })).toMatchObject({ outcome: 'settled', amountBaseUnits: '1000' });
  });

  // Prevents: a contract wallet's payment is verified and worked for, and can never be settled.
  it("passes the bytes of a contract wallet's signature as they are", async () => {
    const wallet: Hex = `0x${'7c'.repeat(20)}`;
    await transferTokens(fixture.chain, { to: wallet, amountBaseUnits: 1000n });
    await fixture.setBalance(wallet, 10n ** 18n);
    await fixture.rpc('anvil_impersonateAccount', [wallet]);
    await approvePermit2(fixture.chain, { owner: wallet });
    await fixture.rpc('anvil_setCode', [wallet, ACCEPTS_LAST_BYTE_1]);
    const payment: SignedPermit = { ...(await sign({ from: wallet })), signature: `0x${'11'.repeat(64)}01` };
    expect(await fixture.verify(payment)).toMatchObject({ outcome: 'valid' });
    expect(await settle(payment)).toMatchObject({ outcome: 'settled', payer: wallet });
  });

  // Prevents: a payer pays often while one settlement is slow, and gets `payment_used` for that permit.
  it.each([
    ['the whole signed amount', () => sign(), 1000n],
    ['the used amount', () => signMetered(), 7n],
  ])('finds its own settlement of %s behind more newer payments than are searched', async (_, signPayment, amount) => {
    const payment = await signPayment();
    const settled = await settle(payment, amount);
    for (let count = 0; count < 33; count++) {
      await transferTokens(fixture.chain, { from: fixture.payer().address, amountBaseUnits: 1n });
    }
    expect(await fixture.verify(payment)).toEqual({ ...settled, outcome: 'valid' });
  });

  // Prevents: a third party sends the permit first through its own contract, the payer is refused for good, and its
  // money is not on record.
  it('records for a refund a permit that was sent through another contract', async () => {
    const payment = await sign();
    const { to, data } = bundleCalls(MULTICALL3, [{ ...planPermitTransfer(payment, 1000n), mayFail: false }]);
    await sendTransaction(fixture.chain, { to, data });
    expect(await settle(payment)).toMatchObject({ outcome: 'failed', failure: 'payment_used' });
    const redis = new Redis(fixture.redis.url);
    const refusals = await listRefusals(redis);
    redis.disconnect();
    const name = `permit:1328:${payer()}:${payment.permit2Authorization.nonce}:permit`;
    const refusal = { payment: name, failure: 'payment_used', payer: payer(), amountBaseUnits: '1000' };
    expect(refusals).toContainEqual(expect.objectContaining(refusal));
  });

  it('reports a permit that cannot be settled, and settles it once it can', async () => {
    const owner = fixture.payer(2);
    const payment = await signMetered({}, owner);
    expect(await settle(payment, 5n)).toMatchObject({ outcome: 'failed', failure: 'settlement_failed' });
    await approvePermit2(fixture.chain, { owner: owner.address });
    expect(await settle(payment, 5n)).toMatchObject({ outcome: 'settled', amountBaseUnits: '5' });
  });
});
