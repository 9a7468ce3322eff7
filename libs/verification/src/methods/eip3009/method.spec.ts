import { bundleCalls, NO_FACTORIES, planTransfer, readPayerSignature } from '@tollgate/chain';
import { hashTokenDomain, hashTransferAuthorization, type Hex, type SignedAuthorization } from '@tollgate/protocol';

import { waitFor } from '../../../../../test/harness/retry.js';
import { sendTransaction } from '../../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../../tools/devnet/processes/json-rpc.js';
import { MULTICALL3 } from '../../../../../tools/devnet/protocols/place-contracts.js';
import { changeResult } from '../../../../chain/test/rpc-stand-in.js';
import { describePaymentMethod } from '../../../test/conformance/describe-payment-method.js';
import { eip3009 } from '../../../test/conformance/eip3009.js';
import { submitAuthorization } from '../../../test/sign-authorization.js';
import { useSignedPaymentVerifier } from '../../../test/use-signed-payment-verifier.js';

const verifiers = useSignedPaymentVerifier();
const { parts, payer, asset, domain, ask, askAboutHash, refusals, signPayment } = verifiers;

const from = (): Hex => payer().address.toLowerCase() as Hex;
const refused = (failure: string) => ({ outcome: 'refused', failure, payer: from() });
const submit = (payment: SignedAuthorization) => submitAuthorization(parts().devnet, payment);
const recordOf = async ({ authorization }: SignedAuthorization) =>
  (await refusals()).find(({ payment }) => payment?.includes(authorization.nonce));

describePaymentMethod(
  eip3009(() => parts().devnet),
  verifiers,
);

describe('an EIP-3009 authorization', () => {
  it('is judged in a round trip of four calls', async () => {
    const payment = await signPayment();
    parts().rpc.requests.length = 0;
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed' });
    const calls = ['eth_call', 'eth_getCode', 'eth_call', 'eth_call'];
    // On a busy machine the newest block is read once more, for its time.
    const judging = parts().rpc.requests.filter((batch) => batch.includes('eth_call'));
    expect(judging).toEqual([[...calls, 'eth_chainId', 'eth_blockNumber']]);
  });

  it.each([
    ['name', { name: 'USD Coin' }],
    ['version', { version: '1' }],
  ])('is refused under the domain of another %s', async (_, changed) => {
    expect(await ask(await signPayment({}, { domain: changed }))).toEqual(refused('signature_invalid'));
  });

  it('is not judged by another domain than that of the settings', async () => {
    const payment = await signPayment();
    for (const terms of [{ assetName: 'USD' }, { assetVersion: '1' }]) {
      expect(await ask(payment, { terms })).toEqual({ outcome: 'unavailable', reason: 'settings_differ' });
    }
  });

  it('is refused in an accepted token without EIP-3009', async () => {
    const token = parts().otherToken.toLowerCase() as Hex;
    const payment = await signPayment({}, { domain: { name: 'Other', version: '1', verifyingContract: token } });
    const terms = { asset: token, assetName: 'Other', assetVersion: '1' };
    expect(await ask(payment, { terms })).toEqual(refused('simulation_failed'));
  });

  // The token decides whether a sender's code is asked; USDC of the devnet accepts the key's signature by v, r and s.
  it("is accepted with the key's own signature even if the account has code (EIP-7702)", async () => {
    const { address, privateKey } = parts().devnet.accounts[5]!;
    const payment = await signPayment({ from: address.toLowerCase() as Hex }, { privateKey });
    await callRpc(parts().devnet.rpcUrl, 'anvil_setCode', [address, '0x60006000fd']);
    try {
      expect(await ask(payment)).toMatchObject({ outcome: 'claimed', payer: address.toLowerCase() });
    } finally {
      await callRpc(parts().devnet.rpcUrl, 'anvil_setCode', [address, '0x']);
    }
  });
});

describe('a settled EIP-3009 authorization', () => {
  it('is distinguished from the others of its transaction', async () => {
    const payments = await Promise.all([signPayment(), signPayment(), signPayment({ value: '3' })]);
    const calls = payments.map(({ authorization, signature }) => {
      const hash = hashTransferAuthorization(authorization, hashTokenDomain({ ...domain(), asset: asset() }));
      const read = readPayerSignature(signature, { hash, payer: from(), factories: NO_FACTORIES });
      const call = planTransfer(authorization, read, { asset: asset(), multicall3: MULTICALL3, isDeployed: true });
      return { ...call, mayFail: false };
    });
    const txHash = await sendTransaction(parts().devnet, bundleCalls(MULTICALL3, calls));
    for (const payment of payments) {
      const { nonce, value } = payment.authorization;
      const verdict = await ask(payment, { terms: { priceBaseUnits: value } });
      expect(verdict).toMatchObject({ outcome: 'claimed', txHash, lease: { id: { nonce } } });
    }
    expect(await askAboutHash(txHash)).toMatchObject({ outcome: 'busy' });
  });

  it('is recognised if it is settled while it is judged', async () => {
    const payment = await signPayment();
    const txHash = await submit(payment);
    // The first read was just before: the nonce was free, and the simulation after it found it taken.
    parts().rpc.fail(
      changeResult('eth_call', (word: Hex) => (Number(word) === 1 ? `0x${'0'.repeat(64)}` : word)),
      1,
    );
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash });
  });

  const hideLogs = () => parts().rpc.fail(changeResult('eth_getLogs', () => []));
  const doubtful = { detail: expect.stringContaining('may have paid another recipient') as string };
  /** Its start lies in the searched range, so a use is to be found there. */
  const settleRecent = async () => {
    const payment = await signPayment({ validAfter: String(Math.floor(Date.now() / 1000) - 60) });
    return { payment, txHash: await submit(payment) };
  };

  it('is recorded for a refund if its settlement is out of the searched range', async () => {
    const payment = await signPayment();
    await submit(payment);
    hideLogs();
    expect(await ask(payment)).toEqual(refused('payment_too_old'));
    expect(await recordOf(payment)).toMatchObject(doubtful);
  });

  // Prevents: one of the servers behind the RPC URL lags, and the payer is refused for good.
  it('is unavailable if the server returns no log of a use that lies in the searched range, until it does', async () => {
    const { payment, txHash } = await settleRecent();
    hideLogs();
    expect(await ask(payment)).toEqual({ outcome: 'unavailable', reason: 'rpc_inconsistent' });
    expect(await recordOf(payment)).toBeUndefined();
    parts().rpc.fail(undefined);
    await waitFor('the log', async () => (await ask(payment, { claim: null })).outcome === 'valid');
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash });
  });

  // Prevents: a payment whose nonce was cancelled long ago is answered 503 for a day instead of refused.
  it('is refused once a second search has found no use of it either, and recorded for a refund', async () => {
    const { payment } = await settleRecent();
    hideLogs();
    expect(await ask(payment)).toEqual({ outcome: 'unavailable', reason: 'rpc_inconsistent' });
    await waitFor('the second search', async () => (await ask(payment)).outcome === 'refused');
    expect(await ask(payment)).toEqual(refused('payment_too_old'));
    expect(await recordOf(payment)).toMatchObject(doubtful);
  });
});
