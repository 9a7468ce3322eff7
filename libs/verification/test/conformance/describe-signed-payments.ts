import type { Hex, SignedPayment } from '@tollgate/protocol';

import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { changeResult } from '../../../chain/test/rpc-stand-in.js';
import { PRICE } from '../use-signed-payment-verifier.js';
import { accountOf, leaseOf, type SignedMethod, type Verifiers } from './payment-method.js';
import { createSignedRows } from './signed-rows.js';

/** The rows of a payment that was not settled yet. */
export function describeSignedPayments(method: SignedMethod, verifiers: Verifiers): void {
  const { ageLedger, ask, parts } = verifiers;
  const { pay } = method;
  const { rpc, own, refused, recordOf } = createSignedRows(method, verifiers);
  const inSeconds = (seconds: number) => BigInt(Math.floor(Date.now() / 1000) + seconds);
  const invalid = () => refused('signature_invalid');

  describe(`a signature of ${method.name} that nobody has sent`, () => {
    it('is verified without a claim when none is asked for', async () => {
      const payment = await pay();
      const valid = { outcome: 'valid', payer: own(), txHash: null };
      for (let times = 0; times < 2; times++) expect(await ask(payment, { claim: null })).toEqual(valid);
      expect(await ask(payment)).toMatchObject({ outcome: 'claimed', lease: { generation: 1 } });
    });

    it('may have an expiry that leaves time to settle it, and the largest of all', async () => {
      for (const validBefore of [inSeconds(15), 2n ** 256n - 1n]) {
        expect(await ask(await pay({ validBefore }))).toMatchObject({ outcome: 'claimed' });
      }
    });

    it('is refused for an expiry before the resource is made and paid for, unless a request holds it', async () => {
      const request = { validForMs: 45_000 };
      const early = await pay({ validBefore: inSeconds(40) });
      expect(await ask(early, { request })).toEqual(refused('authorization_expired'));
      expect(await ask(await pay({ validBefore: inSeconds(55) }), { request })).toMatchObject({ outcome: 'claimed' });
      expect(await ask(early)).toMatchObject({ outcome: 'claimed' });
      expect(await ask(early, { request })).toMatchObject({ outcome: 'busy' });
    });

    it('may have the bare recovery bit as v', async () => {
      const payment = await pay();
      const last = Number.parseInt(payment.signature.slice(-2), 16) - 27;
      const signature: Hex = `0x${payment.signature.slice(2, -2)}0${last}`;
      expect(await ask({ ...payment, signature })).toMatchObject({ outcome: 'claimed' });
    });

    it('is refused if its terms were changed after it was signed', async () => {
      const { signature } = await pay();
      for (const changed of [await pay(), await pay({ validBefore: inSeconds(900) })]) {
        expect(await ask({ ...changed, signature })).toEqual(invalid());
      }
    });

    it('is refused if it is no signature, or the twin of one, which contracts do not accept', async () => {
      const payment = await pay();
      const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
      const s = (order - BigInt(`0x${payment.signature.slice(66, 130)}`)).toString(16).padStart(64, '0');
      const twin = `${payment.signature.slice(0, 66)}${s}${payment.signature.endsWith('1b') ? '1c' : '1b'}`;
      const cut = payment.signature.slice(0, -2);
      for (const signature of [twin, cut, '0x12', `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(65)}`]) {
        expect(await ask({ ...payment, signature: signature as Hex })).toEqual(invalid());
      }
    });

    it('is refused if the payer has no code and another account signed', async () => {
      const from: Hex = `0x${'34'.repeat(20)}`;
      expect(await ask(await pay({ from }))).toEqual(refused('signature_invalid', from));
    });

    it('is refused if there is no contract at the token', async () => {
      const payment = await pay();
      const { asset } = parts().devnet;
      const code = await rpc('eth_getCode', [asset, 'latest']);
      await rpc('anvil_setCode', [asset, '0x']);
      try {
        expect(await ask(payment)).toEqual(refused('asset_has_no_code'));
      } finally {
        await rpc('anvil_setCode', [asset, code]);
      }
    });

    it('of a contract wallet is not put to the wallet again at once after a refusal', async () => {
      const from = parts().wallet.address.toLowerCase() as Hex;
      for (const signature of ['0x12', `0x${'22'.repeat(66)}`, `0x${'22'.repeat(4096)}`] as const) {
        const payment = { ...(await pay({ from })), signature };
        expect(await ask(payment)).toEqual(refused('signature_invalid', from));
        parts().rpc.requests.length = 0;
        expect(await ask(payment)).toEqual(refused('signature_invalid', from));
        // Only the nonce, since a payment that was settled meanwhile must not be refused.
        expect(parts().rpc.requests).toEqual([['eth_call', 'eth_chainId', 'eth_blockNumber']]);
      }
    });

    // Regression: the payer was asked to sign anew while the request that held its first payment had it settled.
    it('is not refused while another request holds it, even if it breaks a rule by now', async () => {
      const failing = { rules: { settleGasCap: 60_000 } };
      const payment = await pay();
      expect(await ask(payment, failing)).toEqual(refused('simulation_failed'));
      const lease = leaseOf(await ask(payment));
      expect(await ask(payment, failing)).toMatchObject({ outcome: 'busy' });
      const pending = { outcome: 'unavailable', reason: 'settlement_pending' };
      expect(await ask(payment, { ...failing, claim: null })).toMatchObject(pending);
      await parts().ledger.release(lease, { counted: false });
      expect(await ask(payment, failing)).toEqual(refused('simulation_failed'));
    });

    // Prevents: the payer signs anew after a change of settings, while a relayer moves the money of its first signature.
    it('that must be settled is refused only once it can move no more', async () => {
      const must = { claim: { mustBeSettled: true } } as const;
      const payment = await pay();
      const lease = leaseOf(await ask(payment));
      expect(await ask(payment, must)).toMatchObject({ outcome: 'busy' });
      await parts().ledger.release(lease, { counted: false });
      expect(await ask(payment, must)).toEqual(refused('unknown_reference'));
    });

    it('is not refused because the chain lags behind what the ledger lost', async () => {
      const payment = await pay();
      await transferTokens(parts().devnet, { amountBaseUnits: 1n });
      await parts().redis.flushall();
      await parts().ledger.open({ chainId: 1328, blockNumber: Number(await rpc('eth_blockNumber')) });
      parts().rpc.fail(changeResult('eth_blockNumber', (head: Hex) => `0x${(Number(head) - 1).toString(16)}`));
      expect(await ask(payment)).toEqual({ outcome: 'unavailable', reason: 'older_than_ledger', retryAfterMs: 1000 });
      parts().rpc.fail(undefined);
      expect(await ask(payment)).toMatchObject({ outcome: 'claimed' });
      await ageLedger();
    });

    it('is refused if its payer invalidated it', async () => {
      const payment = await pay();
      await method.cancel(payment);
      for (let times = 0; times < 2; times++) expect(await ask(payment)).toEqual(refused(method.cancelled));
    });

    const twins: SignedMethod['twins'] = [
      ['another recipient', () => ({ to: accountOf(parts().devnet, 3).address })],
      ['another amount', () => ({ amount: PRICE - 1n })],
      ...method.twins,
    ];
    // Prevents: a payer sends one unit under a nonce itself, and shows a payment of the price with the same nonce.
    it.each(twins)('is refused if its nonce went into a payment with %s', async (what, terms) => {
      const payment: SignedPayment = await pay();
      await method.settle(await pay({ ...terms(), nonceOf: payment }));
      expect(await ask(payment)).toEqual(refused('payment_used'));
      const record = await recordOf(payment);
      // One that moved the price to the same recipient leaves a doubt.
      if (what === 'another recipient' || what === 'another amount') expect(record).toBeUndefined();
    });
  });
}
