import type { Hex } from '@tollgate/protocol';
import type { SettlementResult } from '@tollgate/transport';

import type { SignedMethod } from '../../../../libs/verification/test/conformance/payment-method.js';
import { SIGNED_CODES } from '../../../../libs/verification/test/conformance/signed-codes.js';
import {
  approvePledges,
  deployPledges,
  planDrop,
  planKeep,
  signPledge,
  type SignedPledge,
} from '../../../../test/harness/payments/pledge.js';
import { usePledges } from '../../../../test/harness/payments/use-pledges.js';
import type { DevnetAccount } from '../../../../tools/devnet/chain/chain.js';
import { sendTransaction } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { describeSettlement } from '../../test/describe-settlement.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

usePledges();

describeSettlement((devnet): SignedMethod<SignedPledge> => {
  let contract: Hex;
  const first = () => devnet().accounts[0] as DevnetAccount;
  return {
    name: 'pledges',
    codes: { ...SIGNED_CODES, 'a start in the future': { lacks: 'a pledge is valid at once' } },
    prepare: async () => {
      contract = await deployPledges(devnet());
      await approvePledges(devnet(), first().address, contract);
    },
    prepareWallet: (owner) => approvePledges(devnet(), owner, contract),
    pay: ({ signer = first(), to = devnet().payTo, amount = 1000n, validBefore, nonceOf } = {}) =>
      signPledge(devnet(), signer, {
        contract,
        payee: to.toLowerCase() as Hex,
        amount: String(amount),
        ...(validBefore !== undefined && { end: String(validBefore) }),
        ...(nonceOf && { nonce: nonceOf.pledge.nonce }),
      }),
    call: planKeep,
    settle: (payment) => sendTransaction(devnet(), planKeep(payment)),
    cancel: (payment) => sendTransaction(devnet(), { from: payment.pledge.payer, ...planDrop(payment) }),
    cancelled: 'authorization_cancelled',
    tooPoor: 'balance_too_low',
    claimed: ({ pledge: { payer } }) => ({ payer, txHash: null }),
    idOf: ({ pledge: { payer, nonce } }) => ({ kind: 'pledge', chainId: devnet().chainId, contract, payer, nonce }),
    nameOf: ({ pledge: { nonce } }) => nonce,
    moves: 1000n,
    twins: [['another expiry', () => ({ validBefore: 10_000_000_000n })]],
    byHash: 'the same payment',
    foundBy: ['eth_getLogs'],
    isBatched: true,
    unfound: { detail: 'none: it is not served until its log is shown' },
    longestRefusal: 0,
    refusalRequests: 1,
  };
});

// Prevents: a way to pay needs a change of the rules, the settlement or the refunds.
describe('a method that is registered from outside', () => {
  let fixture: SettlementFixture;
  let contract: Hex;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    await fixture.startVerifier();
    contract = await deployPledges(fixture.chain);
    await approvePledges(fixture.chain, fixture.payer().address, contract);
  });

  afterAll(() => fixture.stop());

  const sign = (changes: Partial<SignedPledge['pledge']> = {}, signer = fixture.payer()) =>
    signPledge(fixture.chain, signer, { contract, ...changes });
  const settle = (payment: SignedPledge, amountBaseUnits = payment.pledge.amount): Promise<SettlementResult> =>
    fixture.settle(payment, { amountBaseUnits });
  const verify = (payment: SignedPledge) =>
    fixture.verify(payment, { ...fixture.createRequest(payment).terms, priceBaseUnits: '1000' });
  const payer = () => fixture.payer().address.toLowerCase();
  const settled = (txHash: unknown = expect.anything()) => ({
    outcome: 'settled',
    txHash,
    payer: payer(),
    amountBaseUnits: '1000',
  });

  it('is verified and settled, once, however often it is asked', async () => {
    const before = await fixture.readBalance();
    const payment = await sign();
    expect(await verify(payment)).toEqual({ outcome: 'valid', payer: payer(), txHash: null });
    const results = await Promise.all(Array.from({ length: 5 }, () => settle(payment)));
    expect(results[0]).toEqual(settled());
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
    expect(await fixture.readBalance()).toBe(before + 1000n);
    const [{ txHash }] = results as [SettlementResult & { txHash: Hex }];
    expect(await verify(payment)).toEqual({ outcome: 'valid', payer: payer(), txHash, amountBaseUnits: '1000' });
  });

  it('shares a transaction with payments of its own, and none with those of another method', async () => {
    const pledges = await Promise.all(Array.from({ length: 3 }, () => sign()));
    const authorizations = await Promise.all(Array.from({ length: 3 }, () => fixture.sign()));
    const results = await Promise.all([
      ...pledges.map((payment) => settle(payment)),
      ...authorizations.map((payment) => fixture.settle(payment)),
    ]);
    expect(results).toEqual(Array(6).fill(settled()));
    const hashes = results.map((result) => ('txHash' in result ? result.txHash : null));
    const [ofPledges, others] = [new Set(hashes.slice(0, 3)), new Set(hashes.slice(3))];
    expect([...ofPledges].filter((hash) => others.has(hash))).toEqual([]);
  });

  it('is found where a third party has sent it, and refused where its nonce went into another', async () => {
    const payment = await sign();
    const other = await sign({ nonce: payment.pledge.nonce, amount: '999' });
    const txHash = await sendTransaction(fixture.chain, planKeep(payment));
    expect(await settle(payment)).toEqual(settled(txHash));
    expect(await settle(other)).toEqual({ outcome: 'failed', failure: 'payment_used', txHash });
    expect(await verify(payment)).toMatchObject({ outcome: 'valid', txHash });
  });

  it('is refused by rules of its own and by those of every method', async () => {
    const refused = (failure: string) => ({ outcome: 'refused', failure });
    expect(await verify(await sign({ amount: '999' }))).toMatchObject(refused('amount_mismatch'));
    expect(await verify(await sign({ payee: contract }))).toMatchObject(refused('recipient_mismatch'));
    expect(await verify(await sign({ end: '1000000000' }))).toMatchObject(refused('authorization_expired'));
    const { signature } = await sign();
    expect(await verify({ ...(await sign()), signature })).toMatchObject(refused('signature_invalid'));
    const notApproved = await sign({}, fixture.payer(1));
    expect(await verify(notApproved)).toMatchObject(refused('simulation_failed'));
    expect(await settle(notApproved)).toMatchObject({ outcome: 'failed', failure: 'simulation_failed' });
    expect(await settle(await sign(), '999')).toMatchObject({ outcome: 'failed', failure: 'amount_mismatch' });
  });
});
