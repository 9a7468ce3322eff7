import { bundleCalls, NO_FACTORIES, planTransfer, readPayerSignature } from '@tollgate/chain';
import { hashRetryKey } from '@tollgate/ledger';
import { hashTokenDomain, hashTransferAuthorization, type Hex, type SignedAuthorization } from '@tollgate/protocol';

import { waitFor } from '../../../../test/harness/retry.js';
import { sendTransaction, transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { MULTICALL3 } from '../../../../tools/devnet/protocols/place-contracts.js';
import { changeResult } from '../../../chain/test/rpc-stand-in.js';
import { cancelAuthorization, signAuthorization, submitAuthorization } from '../../test/sign-authorization.js';
import { PRICE, useSignedPaymentVerifier } from '../../test/use-signed-payment-verifier.js';

const { abandon, parts, payer, asset, domain, ask, askAboutHash, refusals, signPayment } = useSignedPaymentVerifier();

const from = (): Hex => payer().address.toLowerCase() as Hex;
const refused = (failure: string) => ({ outcome: 'refused', failure, payer: from() });
const submit = (payment: SignedAuthorization) => submitAuthorization(parts().devnet, payment);
const recordOf = async ({ authorization }: SignedAuthorization) =>
  (await refusals()).find(({ payment }) => payment?.includes(authorization.nonce));

describe('verifying a signed payment that is on the chain', () => {
  // Prevents: an observer sends the authorization, and the payer is charged and refused.
  it('claims for the payer what a third party has sent', async () => {
    const payment = await signPayment();
    const txHash = await submit(payment);
    const verdict = await ask(payment);
    expect(verdict).toMatchObject({ outcome: 'claimed', payer: from(), txHash });
    expect(verdict).toMatchObject({ lease: { id: { kind: 'authorization', nonce: payment.authorization.nonce } } });
    expect(await ask(payment, { claim: null })).toMatchObject({ outcome: 'valid', payer: from(), txHash });
  });

  it('claims it for the same retry key once its first lease has run out', async () => {
    const payment = await signPayment();
    const claim = { retryKey: hashRetryKey('again'), fingerprint: 'same' };
    expect(await abandon(payment, claim)).toMatchObject({ outcome: 'claimed', txHash: null });
    const txHash = await submit(payment);
    const again = await ask(payment, { claim });
    expect(again).toMatchObject({ outcome: 'claimed', txHash, lease: { generation: 2 } });
    if (again.outcome === 'claimed') await parts().ledger.commit(again.lease, null);
    expect(await ask(payment, { claim })).toMatchObject({ outcome: 'answered' });
    expect(await ask(payment)).toEqual({ outcome: 'conflict' });
    expect(await ask(payment, { claim: { fingerprint: 'same' } })).toEqual(refused('payment_used'));
  });

  it('claims it after its expiry, even if a third party shows it', async () => {
    const { devnet, redis } = parts();
    // Mined a minute ago, with a ledger that existed long before.
    for (const key of await redis.keys('*:birth:*')) await redis.hset(key, { at: 1, block: 0 });
    const now = Math.floor(Date.now() / 1000);
    await callRpc(devnet.rpcUrl, 'anvil_setTime', [now - 60]);
    const payment = await signPayment({ validBefore: String(now - 30) });
    const txHash = await submit(payment);
    await callRpc(devnet.rpcUrl, 'anvil_setTime', [Math.floor(Date.now() / 1000)]);
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash });
    const poor = await signPayment({ value: '7' });
    await submit(poor);
    await transferTokens(parts().devnet, { from: payer().address, amountBaseUnits: 5n });
    expect(await ask(poor, { terms: { priceBaseUnits: '7' } })).toMatchObject({ outcome: 'claimed' });
  });

  // Prevents: the hash of a settled authorization buys a second answer, or its signature does after the hash.
  it('is one payment, shown by signature or by the hash of its transaction', async () => {
    const [signedFirst, hashFirst] = [await signPayment(), await signPayment()];
    const hashes = [await submit(signedFirst), await submit(hashFirst)] as const;
    const claim = { fingerprint: 'one-request' };

    const bySignature = await ask(signedFirst, { claim });
    if (bySignature.outcome !== 'claimed') throw new Error(bySignature.outcome);
    expect(await askAboutHash(hashes[0])).toMatchObject({ outcome: 'busy' });
    await parts().ledger.commit(bySignature.lease, null);
    expect(await askAboutHash(hashes[0], { request: claim })).toEqual({ outcome: 'refused', failure: 'payment_used' });

    const byHash = await askAboutHash(hashes[1], { request: claim });
    if (byHash.outcome !== 'claimed') throw new Error(byHash.outcome);
    expect(await ask(hashFirst)).toMatchObject({ outcome: 'busy' });
    await parts().ledger.commit(byHash.lease, null);
    expect(await ask(hashFirst, { claim })).toEqual(refused('payment_used'));
  });

  it('distinguishes the payments of one transaction', async () => {
    const payments = await Promise.all([signPayment(), signPayment(), signPayment({ value: '3' })]);
    const calls = await Promise.all(
      payments.map(async ({ authorization, signature }) => {
        const hash = hashTransferAuthorization(authorization, hashTokenDomain({ ...domain(), asset: asset() }));
        const read = readPayerSignature(signature, { hash, payer: from(), factories: NO_FACTORIES });
        const call = planTransfer(authorization, read, { asset: asset(), multicall3: MULTICALL3, isDeployed: false });
        return { ...call, mayFail: false };
      }),
    );
    const txHash = await sendTransaction(parts().devnet, bundleCalls(MULTICALL3, calls));
    const leases = await Promise.all(payments.map((payment) => ask(payment, termsOf(payment))));
    expect(leases).toEqual(payments.map(({ authorization: { nonce } }) => claimedAs(nonce, txHash)));
    expect(await askAboutHash(txHash)).toMatchObject({ outcome: 'busy' });
  });

  it('refuses an authorization that its payer cancelled', async () => {
    const payment = await signPayment();
    await cancelAuthorization(parts().devnet, payment.authorization, {
      domain: domain(),
      privateKey: payer().privateKey,
    });
    expect(await ask(payment)).toEqual(refused('authorization_cancelled'));
  });

  it.each<[string, () => { to?: Hex; value?: string }]>([
    ['to another recipient', () => ({ to: parts().devnet.accounts[3]!.address.toLowerCase() as Hex })],
    ['with another amount', () => ({ value: String(PRICE - 1n) })],
  ])('refuses a nonce that went into a payment %s', async (_, change) => {
    const payment = await signPayment();
    const keys = { domain: domain(), privateKey: payer().privateKey };
    await submit(await signAuthorization({ ...payment.authorization, ...change() }, keys));
    expect(await ask(payment)).toEqual(refused('payment_used'));
    expect(await recordOf(payment)).toBeUndefined();
  });

  it('requires the signature also of a settled payment', async () => {
    const payment = await signPayment();
    await submit(payment);
    expect(await ask({ ...payment, signature: `0x${'11'.repeat(65)}` })).toEqual(refused('signature_invalid'));
  });

  it('recognises a settlement that happens while the payment is judged', async () => {
    const payment = await signPayment();
    const txHash = await submit(payment);
    // The first read was just before: the nonce was free, and the simulation after it found it taken.
    parts().rpc.fail(
      changeResult('eth_call', (word: Hex) => (Number(word) === 1 ? `0x${'0'.repeat(64)}` : word)),
      1,
    );
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash });
  });
});

describe('verifying a signed payment by the age of its settlement', () => {
  it('waits for its confirmations, and does not refuse it for lack of them', async () => {
    const payment = await signPayment();
    await submit(payment);
    const rules = { confirmations: 3 };
    expect(await ask(payment, { rules })).toEqual({
      outcome: 'unavailable',
      reason: 'not_confirmed',
      retryAfterMs: 1000,
    });
    const waiting = ask(payment, { rules, waitMs: 50_000 });
    await callRpc(parts().devnet.rpcUrl, 'anvil_mine', ['0x2']);
    expect(await waiting).toMatchObject({ outcome: 'claimed' });
  });

  it('records for a refund one that comes after its window', async () => {
    const payment = await signPayment();
    await submit(payment);
    // Below zero, because a chain that mines at once dates its blocks ahead.
    expect(await ask(payment, { rules: { redemptionWindowMs: -60_000 } })).toEqual(refused('payment_too_old'));
    expect(await recordOf(payment)).toMatchObject({
      failure: 'payment_too_old',
      payer: from(),
      amountBaseUnits: String(PRICE),
    });
    expect((await recordOf(payment))?.detail).toBeUndefined();
  });

  it('records one that the ledger may have forgotten', async () => {
    const payment = await signPayment();
    await submit(payment);
    await parts().redis.flushall();
    await parts().ledger.open({
      chainId: 1328,
      blockNumber: Number(await callRpc(parts().devnet.rpcUrl, 'eth_blockNumber')),
    });
    expect(await ask(payment)).toEqual(refused('older_than_ledger'));
    expect(await recordOf(payment)).toMatchObject({
      failure: 'older_than_ledger',
      detail: expect.stringContaining('may have been spent'),
    });
  });

  it('records one whose settlement is out of the searched range', async () => {
    const payment = await signPayment();
    await submit(payment);
    parts().rpc.fail(changeResult('eth_getLogs', () => []));
    expect(await ask(payment)).toEqual(refused('payment_too_old'));
    expect(await recordOf(payment)).toMatchObject({
      detail: expect.stringContaining('may have paid another recipient'),
    });
  });
});

describe('verifying a signed payment whose settlement cannot be read', () => {
  it.each<[string, string, Parameters<typeof changeResult>]>([
    ['a log that was not asked for', 'rpc_malformed', ['eth_getLogs', (logs: object[]) => logs.map(elsewhere)]],
    ['no list of logs', 'rpc_malformed', ['eth_getLogs', () => null]],
    ['no receipt', 'rpc_inconsistent', ['eth_getTransactionReceipt', () => null]],
  ])('is unavailable if the server returns %s', async (_, reason, fault) => {
    const payment = await signPayment();
    const txHash = await submit(payment);
    parts().rpc.fail(changeResult(...fault));
    expect(await ask(payment)).toEqual({ outcome: 'unavailable', reason });
    parts().rpc.fail(undefined);
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash });
  });

  // Prevents: one of the servers behind the RPC URL lags, and the payer is refused for good.
  it('is unavailable if the server returns no log of a use that lies in the searched range, until it does', async () => {
    const payment = await signPayment({ validAfter: String(Math.floor(Date.now() / 1000) - 60) });
    const txHash = await submit(payment);
    parts().rpc.fail(changeResult('eth_getLogs', () => []));
    expect(await ask(payment)).toEqual({ outcome: 'unavailable', reason: 'rpc_inconsistent' });
    expect(await recordOf(payment)).toBeUndefined();
    parts().rpc.fail(undefined);
    await waitFor('the log', async () => (await ask(payment, { claim: null })).outcome === 'valid');
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash });
  });

  // Prevents: a payment whose nonce was cancelled long ago is answered 503 for a day instead of refused.
  it('is refused once a second search has found no use of it either, and recorded for a refund', async () => {
    const payment = await signPayment({ validAfter: String(Math.floor(Date.now() / 1000) - 60) });
    await submit(payment);
    parts().rpc.fail(changeResult('eth_getLogs', () => []));
    expect(await ask(payment)).toEqual({ outcome: 'unavailable', reason: 'rpc_inconsistent' });
    await waitFor('the second search', async () => (await ask(payment)).outcome === 'refused');
    expect(await ask(payment)).toEqual(refused('payment_too_old'));
    expect(await recordOf(payment)).toMatchObject({
      detail: expect.stringContaining('may have paid another recipient'),
    });
  });

  it('is unavailable if the server refuses to search so many blocks', async () => {
    const payment = await signPayment();
    await submit(payment);
    parts().rpc.fail({
      kind: 'rewrite',
      rewrite: (answers) =>
        answers.map((one) =>
          one.method === 'eth_getLogs'
            ? { id: one.id, error: { code: -32602, message: 'block range too large' } }
            : one,
        ),
    });
    expect(await ask(payment)).toEqual({ outcome: 'unavailable', reason: 'rpc_error' });
  });
});

const elsewhere = (log: object) => ({ ...log, address: `0x${'12'.repeat(20)}` });

const termsOf = ({ authorization: { value } }: SignedAuthorization) => ({ terms: { priceBaseUnits: value } });

const claimedAs = (nonce: Hex, txHash: Hex): unknown =>
  expect.objectContaining({
    outcome: 'claimed',
    txHash,
    lease: expect.objectContaining({ id: expect.objectContaining({ nonce }) }),
  });
