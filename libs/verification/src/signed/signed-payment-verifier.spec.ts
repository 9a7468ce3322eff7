import { hashRetryKey } from '@tollgate/ledger';
import type { Hex, TransferAuthorization } from '@tollgate/protocol';

import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { changeResult } from '../../../chain/test/rpc-stand-in.js';
import type { TestDomain } from '../../test/sign-authorization.js';
import { PRICE, useSignedPaymentVerifier } from '../../test/use-signed-payment-verifier.js';

const { parts, asset, ask, createRequest, createVerifier, signPayment } = useSignedPaymentVerifier();

const addressOf = (index: number): Hex => parts().devnet.accounts[index]!.address.toLowerCase() as Hex;
const inSeconds = (seconds: number): string => String(Math.floor(Date.now() / 1000) + seconds);
const refused = (failure: string) => ({ outcome: 'refused', failure, payer: addressOf(0) });

describe('verifying a signed payment', () => {
  it('claims one that was not sent yet, in one round trip of four calls', async () => {
    const payment = await signPayment();
    parts().rpc.requests.length = 0;
    expect(await ask(payment)).toEqual({
      outcome: 'claimed',
      payer: addressOf(0),
      txHash: null,
      lease: {
        id: {
          kind: 'authorization',
          chainId: 1328,
          asset: asset(),
          from: addressOf(0),
          nonce: payment.authorization.nonce,
        },
        owner: expect.any(String),
        generation: 1,
        untilMs: expect.any(Number),
      },
      simulation: { atMs: expect.any(Number), balanceBaseUnits: expect.stringMatching(/^\d+$/) },
    });
    const calls = ['eth_call', 'eth_getCode', 'eth_call', 'eth_call'];
    expect(parts().rpc.requests).toEqual([[...calls, 'eth_chainId', 'eth_blockNumber']]);
  });

  it('verifies without a claim when none is asked for', async () => {
    const payment = await signPayment();
    const valid = { outcome: 'valid', payer: addressOf(0), txHash: null };
    expect(await ask(payment, { claim: null })).toEqual(valid);
    expect(await ask(payment, { claim: null })).toEqual(valid);
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', lease: { generation: 1 } });
  });

  it('accepts the bare recovery bit as v', async () => {
    const payment = await signPayment();
    const last = Number.parseInt(payment.signature.slice(-2), 16) - 27;
    const signature: Hex = `0x${payment.signature.slice(2, -2)}0${last}`;
    expect(await ask({ ...payment, signature })).toMatchObject({ outcome: 'claimed' });
  });

  describe('by its terms', () => {
    it.each<[string, Partial<TransferAuthorization>, string]>([
      ['another recipient', { to: `0x${'12'.repeat(20)}` }, 'recipient_mismatch'],
      ['a start in the future', { validAfter: inSeconds(60) }, 'authorization_not_yet_valid'],
      ['a start beyond all time', { validAfter: (2n ** 256n - 1n).toString() }, 'authorization_not_yet_valid'],
      ['an expiry two days ago', { validBefore: inSeconds(-172_800) }, 'authorization_expired'],
    ])('refuses %s without asking the chain', async (_, changes, failure) => {
      const payment = await signPayment(changes);
      parts().rpc.requests.length = 0;
      expect(await ask(payment)).toEqual(refused(failure));
      expect(parts().rpc.requests).toHaveLength(0);
    });

    it.each([
      ['less', PRICE - 1n],
      ['more', PRICE + 1n],
    ])('refuses one unit %s with one look at the nonce', async (_, value) => {
      const payment = await signPayment({ value: String(value) });
      parts().rpc.requests.length = 0;
      expect(await ask(payment)).toEqual(refused('amount_mismatch'));
      expect(parts().rpc.requests).toEqual([['eth_call', 'eth_chainId', 'eth_blockNumber']]);
    });

    it.each([
      ['past', -1],
      ['too soon to settle it', 5],
    ])('refuses an expiry that is %s', async (_, seconds) => {
      expect(await ask(await signPayment({ validBefore: inSeconds(seconds) }))).toEqual(
        refused('authorization_expired'),
      );
    });

    it('accepts an expiry that leaves time to settle it, and the largest of all', async () => {
      for (const validBefore of [inSeconds(15), (2n ** 256n - 1n).toString()]) {
        expect(await ask(await signPayment({ validBefore }))).toMatchObject({ outcome: 'claimed' });
      }
    });

    it('refuses an expiry before the resource is made and paid for, while nothing has moved', async () => {
      const request = { validForMs: 45_000 };
      expect(await ask(await signPayment({ validBefore: inSeconds(40) }), { request })).toEqual(
        refused('authorization_expired'),
      );
      expect(await ask(await signPayment({ validBefore: inSeconds(55) }), { request })).toMatchObject({
        outcome: 'claimed',
      });
      const held = await signPayment({ validBefore: inSeconds(40) });
      expect(await ask(held)).toMatchObject({ outcome: 'claimed' });
      expect(await ask(held, { request })).toMatchObject({ outcome: 'busy' });
    });

    it('refuses a balance that is too low', async () => {
      const value = String(10n ** 30n);
      const payment = await signPayment({ value });
      expect(await ask(payment, { terms: { priceBaseUnits: value } })).toEqual(refused('balance_too_low'));
    });

    it('refuses an asset that is not accepted, and is unavailable for other settings', async () => {
      const payment = await signPayment();
      expect(await ask(payment, { terms: { asset: addressOf(3) } })).toEqual(refused('wrong_network'));
      for (const terms of [{ chainId: 1 }, { assetName: 'USD' }, { assetVersion: '1' }]) {
        expect(await ask(payment, { terms })).toEqual({ outcome: 'unavailable', reason: 'settings_differ' });
      }
    });

    it('refuses an asset that is not a contract', async () => {
      const payment = await signPayment();
      const code = await callRpc(parts().devnet.rpcUrl, 'eth_getCode', [asset(), 'latest']);
      await callRpc(parts().devnet.rpcUrl, 'anvil_setCode', [asset(), '0x']);
      try {
        expect(await ask(payment)).toEqual(refused('asset_has_no_code'));
      } finally {
        await callRpc(parts().devnet.rpcUrl, 'anvil_setCode', [asset(), code]);
      }
    });

    it('refuses an accepted token without EIP-3009', async () => {
      const token = parts().otherToken.toLowerCase() as Hex;
      const domain = { name: 'Other', version: '1', verifyingContract: token };
      const payment = await signPayment({}, { domain });
      const terms = { asset: token, assetName: 'Other', assetVersion: '1' };
      expect(await ask(payment, { terms })).toEqual(refused('simulation_failed'));
    });
  });

  describe('by its signature', () => {
    it.each<[string, Partial<TestDomain>]>([
      ['name', { name: 'USD Coin' }],
      ['version', { version: '1' }],
      ['chain', { chainId: 1 }],
      ['token', { verifyingContract: `0x${'12'.repeat(20)}` }],
    ])('refuses the domain of another %s', async (_, domain) => {
      expect(await ask(await signPayment({}, { domain }))).toEqual(refused('signature_invalid'));
    });

    it('refuses a payment changed after signing, and the signature of another account', async () => {
      const payment = await signPayment();
      const nonce: Hex = `0x${'77'.repeat(32)}`;
      expect(await ask({ ...payment, authorization: { ...payment.authorization, nonce } })).toEqual(
        refused('signature_invalid'),
      );
      const { privateKey } = parts().devnet.accounts[1]!;
      expect(await ask(await signPayment({}, { privateKey }))).toEqual(refused('signature_invalid'));
      for (const signature of [
        `0x${'00'.repeat(65)}`,
        `0x${'ff'.repeat(65)}`,
        '0x12',
        payment.signature.slice(0, -2),
      ]) {
        expect(await ask({ ...payment, signature: signature as Hex })).toEqual(refused('signature_invalid'));
      }
    });

    it('refuses the twin of a signature, which the token does not accept', async () => {
      const payment = await signPayment();
      const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
      const s = (order - BigInt(`0x${payment.signature.slice(66, 130)}`)).toString(16).padStart(64, '0');
      const v = payment.signature.endsWith('1b') ? '1c' : '1b';
      const signature: Hex = `0x${payment.signature.slice(2, 66)}${s}${v}`;
      expect(await ask({ ...payment, signature })).toEqual(refused('signature_invalid'));
    });
  });

  it('claims one authorization once, of twenty simultaneous requests', async () => {
    const payment = await signPayment();
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => ask(payment)));
    expect(verdicts.filter(({ outcome }) => outcome === 'claimed')).toHaveLength(1);
    expect(verdicts.filter(({ outcome }) => outcome === 'busy')).toHaveLength(19);
  });

  // Regression: the payer was asked to sign anew while the request that held its first payment had it settled.
  it('does not refuse a payment that another request holds, even if it breaks a rule by now', async () => {
    const failing = { rules: { settleGasCap: 30_000 } };
    const payment = await signPayment();
    expect(await ask(payment, failing)).toEqual(refused('simulation_failed'));
    const held = await ask(payment);
    if (held.outcome !== 'claimed') throw new Error(held.outcome);
    expect(await ask(payment, failing)).toMatchObject({ outcome: 'busy' });
    expect(await ask(payment, { ...failing, claim: null })).toMatchObject({
      outcome: 'unavailable',
      reason: 'settlement_pending',
    });
    await parts().ledger.release(held.lease, { counted: false });
    expect(await ask(payment, failing)).toEqual(refused('simulation_failed'));
  });

  // Prevents: the payer signs anew after a change of settings, while a relayer moves the money of its first signature.
  it('refuses one that must be settled only once it can move no more', async () => {
    const must = { claim: { mustBeSettled: true } } as const;
    const payment = await signPayment();
    expect(await ask(payment, must)).toEqual(refused('unknown_reference'));
    const held = await ask(payment);
    if (held.outcome !== 'claimed') throw new Error(held.outcome);
    expect(await ask(payment, must)).toMatchObject({ outcome: 'busy' });
    await parts().ledger.release(held.lease, { counted: false });
    expect(await ask(payment, must)).toEqual(refused('unknown_reference'));
  });

  it('claims again for the same owner, and after a release only for the same retry key', async () => {
    const payment = await signPayment();
    const request = createRequest(payment, { claim: { retryKey: hashRetryKey('mine') } });
    const first = await createVerifier().verify(request);
    if (first.outcome !== 'claimed') throw new Error(first.outcome);
    expect(await createVerifier().verify(request)).toMatchObject({ outcome: 'claimed', lease: first.lease });
    await parts().ledger.release(first.lease, { counted: true });
    expect(await ask(payment)).toEqual(refused('payment_used'));
    expect(await ask(payment, { claim: { retryKey: hashRetryKey('mine') } })).toMatchObject({ outcome: 'claimed' });
  });

  it('refuses a payment that was released five times', async () => {
    const payment = await signPayment();
    for (let times = 0; times < 5; times++) {
      const verdict = await ask(payment);
      if (verdict.outcome !== 'claimed') throw new Error(verdict.outcome);
      await parts().ledger.release(verdict.lease, { counted: true });
    }
    expect(await ask(payment)).toEqual(refused('released_too_often'));
  });

  describe('when no verdict is possible', () => {
    it('is unavailable without the chain', async () => {
      const payment = await signPayment();
      parts().rpc.fail({ kind: 'status', status: 503 });
      expect(await ask(payment)).toEqual({ outcome: 'unavailable', reason: 'rpc_http_error' });
      parts().rpc.fail(changeResult('eth_call', () => '0x1234'));
      expect(await ask(payment)).toEqual({ outcome: 'unavailable', reason: 'rpc_malformed' });
      parts().rpc.fail({
        kind: 'rewrite',
        rewrite: (answers) => answers.map((one) => (one.method === 'eth_call' ? limitExceeded(one.id) : one)),
      });
      expect(await ask(payment)).toEqual({ outcome: 'unavailable', reason: 'rpc_error' });
      parts().rpc.fail(undefined);
      expect(await ask(payment)).toMatchObject({ outcome: 'claimed' });
    });

    it('asks nothing after the deadline', async () => {
      const payment = await signPayment();
      parts().rpc.requests.length = 0;
      const request = { deadlineMs: parts().ledger.nowMs() - 1 };
      expect(await ask(payment, { request })).toEqual({ outcome: 'unavailable', reason: 'deadline_passed' });
      expect(parts().rpc.requests).toHaveLength(0);
    });

    it('does not refuse a payment because the chain lags behind what the ledger lost', async () => {
      const payment = await signPayment();
      await transferTokens(parts().devnet, { amountBaseUnits: 1n });
      await parts().redis.flushall();
      await parts().ledger.open({
        chainId: 1328,
        blockNumber: Number(await callRpc(parts().devnet.rpcUrl, 'eth_blockNumber')),
      });
      parts().rpc.fail(changeResult('eth_blockNumber', (head: Hex) => `0x${(Number(head) - 1).toString(16)}`));
      expect(await ask(payment)).toEqual({ outcome: 'unavailable', reason: 'older_than_ledger', retryAfterMs: 1000 });
      parts().rpc.fail(undefined);
      expect(await ask(payment)).toMatchObject({ outcome: 'claimed' });
    });
  });

  // The token decides whether a sender's code is asked; USDC of the devnet accepts the key's signature by v, r and s.
  it("accepts the key's own signature even if the account has code (EIP-7702)", async () => {
    const account = parts().devnet.accounts[5]!;
    const payment = await signPayment({ from: addressOf(5) }, { privateKey: account.privateKey });
    await callRpc(parts().devnet.rpcUrl, 'anvil_setCode', [account.address, '0x60006000fd']);
    try {
      expect(await ask(payment)).toMatchObject({ outcome: 'claimed', payer: addressOf(5) });
    } finally {
      await callRpc(parts().devnet.rpcUrl, 'anvil_setCode', [account.address, '0x']);
    }
  });
});

const limitExceeded = (id: number) => ({ id, error: { code: -32005, message: 'limit exceeded' } });
