import { connectChain, listArrivals, type ConnectedChain } from '@tollgate/chain';
import { nameOfPayment, readPaymentName, signedPaymentId } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';
import type { SettlementResult } from '@tollgate/transport';
import { encodeFunctionData, erc20Abi, maxUint256 } from 'viem';

import { findPayer } from '../../../../libs/refunds/src/find-payer.js';
import type { SignedMethod } from '../../../../libs/verification/test/conformance/payment-method.js';
import { SIGNED_CODES } from '../../../../libs/verification/test/conformance/signed-codes.js';
import {
  deployPledges,
  planDrop,
  planKeep,
  registerPledges,
  signPledge,
  type SignedPledge,
} from '../../../../test/harness/payments/pledge.js';
import type { Devnet, DevnetAccount } from '../../../../tools/devnet/chain/chain.js';
import { sendTransaction } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { describeSettlement } from '../../test/describe-settlement.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

registerPledges();

const approve = (chain: Devnet, owner: Hex, spender: Hex): Promise<Hex> => {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, maxUint256] });
  return sendTransaction(chain, { from: owner, to: chain.asset, data });
};

describeSettlement((devnet): SignedMethod<SignedPledge> => {
  let contract: Hex;
  const first = () => devnet().accounts[0] as DevnetAccount;
  return {
    name: 'pledges',
    codes: { ...SIGNED_CODES, 'a start in the future': { lacks: 'a pledge is valid at once' } },
    prepare: async () => {
      contract = await deployPledges(devnet());
      await approve(devnet(), first().address, contract);
    },
    prepareWallet: (owner) => approve(devnet(), owner, contract),
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
  let chain: ConnectedChain;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    await fixture.startVerifier();
    contract = await deployPledges(fixture.chain);
    await approve(fixture.chain, fixture.payer().address, contract);
    chain = connectChain({
      urls: [fixture.chain.rpcUrl],
      chainId: fixture.chain.chainId,
      timeoutMs: 30_000,
      batchSize: 50,
      batchesInFlight: 8,
      logRangeBlocks: 1_000,
      maxResponseBytes: 16_777_216,
      maxReceiptBytes: 1_048_576,
      observer: { batchEnded: () => undefined, queueChanged: () => undefined },
      nowMs: () => Date.now(),
    });
  });

  afterAll(async () => {
    await chain.close();
    await fixture.stop();
  });

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

  it('is named by the logs of its transaction, for refunds and for the comparison of book and chain', async () => {
    const payment = await sign();
    const result = await settle(payment);
    if (result.outcome !== 'settled') throw new Error(`the pledge is ${result.outcome}`);
    const [asset, payTo] = [fixture.chain.asset, fixture.chain.payTo].map((text) => text.toLowerCase() as Hex) as [
      Hex,
      Hex,
    ];
    const { chainId } = fixture.chain;
    const id = signedPaymentId({ chainId, asset }, payment);
    const name = nameOfPayment(id);
    expect(name).toBe(`pledge:${chainId}:${contract}:${payer()}:${payment.pledge.nonce}:kept`);
    expect(readPaymentName(name)).toEqual(id);
    const { mined } = await chain.reader.readTransaction(result.txHash, Date.now() + 30_000);
    const [arrival] = listArrivals(mined!.receipt.logs, { chainId, asset, recipient: payTo });
    expect(arrival).toMatchObject({ from: payer(), amountBaseUnits: 1000n, cause: { id } });
    const refundChain = {
      chainId,
      readTransaction: () => Promise.resolve(mined),
      isContract: () => Promise.resolve(false),
      readBlockTimeMs: () => Promise.resolve(0),
      readHeadNumber: () => Promise.resolve(0),
      readDecimals: () => Promise.resolve(6n),
    };
    const found = await findPayer(refundChain, { id, transaction: result.txHash, amount: 1000n, asset, payTo });
    expect(found).toMatchObject({ outcome: 'found', payer: { address: payer(), amount: 1000n, permit: null } });
  });
});
