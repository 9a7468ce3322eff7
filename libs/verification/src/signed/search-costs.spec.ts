import { hashRetryKey } from '@tollgate/ledger';
import type { Hex, SignedPayment } from '@tollgate/protocol';

import { approvePermit2 } from '../../../../test/harness/chain/sign-permit.js';
import { changeResult } from '../../../chain/test/rpc-stand-in.js';
import { permit2 } from '../../test/conformance/permit2.js';
import { putIntoJob } from '../../test/conformance/signed-rows.js';
import { submitAuthorization } from '../../test/sign-authorization.js';
import { PRICE, useSignedPaymentVerifier } from '../../test/use-signed-payment-verifier.js';

const verifiers = useSignedPaymentVerifier();
const { parts, payer, createRequest, createVerifier, signPayment } = verifiers;

const usedUp = { outcome: 'unavailable', reason: 'client_share_used_up' };
const inSeconds = (seconds: number): string => String(Math.floor(Date.now() / 1000) + seconds);

/** The verdicts on payments that one client presents one after the other, with a share of one look-up. */
const askAll = async (payments: readonly SignedPayment[], priceBaseUnits = PRICE) => {
  const verifier = createVerifier({}, 0, undefined, { lookupsPerMinute: 1 });
  const verdicts = [];
  for (const payment of payments) {
    verdicts.push(await verifier.verify(createRequest(payment, { terms: { priceBaseUnits: String(priceBaseUnits) } })));
  }
  return verdicts;
};
const byPermit = permit2(() => parts().devnet, 'exact');

// Prevents: a payer has the whole window searched for each nonce that it used long ago, as often as it likes.
describe('a search for a nonce that finds nothing', () => {
  beforeAll(() => approvePermit2(parts().devnet, { owner: payer().address }));

  it.each([
    ['payment_too_old', () => '0', PRICE],
    ['rpc_inconsistent', () => inSeconds(-60), PRICE],
    ['amount_mismatch', () => '0', PRICE + 1n],
  ])('counts against the share of its client if it ends as %s', async (end, validAfter, price) => {
    const payments = [await signPayment({ validAfter: validAfter() }), await signPayment()];
    for (const payment of payments) await submitAuthorization(parts().devnet, payment);
    parts().rpc.fail(changeResult('eth_getLogs', () => []));
    const [first, second] = await askAll(payments, price);
    expect(Object.values(first ?? {})).toContain(end);
    expect(second).toMatchObject(usedUp);
  });

  const invalidate = async () => {
    const permit = await byPermit.pay();
    await byPermit.cancel(permit);
    return permit;
  };

  it('counts for a permit too', async () => {
    const used = { outcome: 'refused', failure: 'payment_used' };
    expect(await askAll([await invalidate(), await invalidate()])).toMatchObject([used, usedUp]);
  });

  it('does not count, and is not kept from a client, if a relayer has sent the payment', async () => {
    const permits = [await invalidate(), await invalidate()];
    for (const permit of permits) await putIntoJob(verifiers, permit);
    const used = { outcome: 'refused', failure: 'payment_used' };
    expect(await askAll(permits)).toMatchObject([used, used]);
  });
});

it('a payment that is found on the chain costs its client nothing, however often it is shown', async () => {
  const payment = await signPayment();
  const txHash: Hex = await submitAuthorization(parts().devnet, payment);
  const verifier = createVerifier({}, 0, undefined, { lookupsPerMinute: 1 });
  const claim = { retryKey: hashRetryKey('key'), fingerprint: 'print' };
  expect(await verifier.verify(createRequest(payment, { claim }))).toMatchObject({ outcome: 'claimed', txHash });
  for (let count = 0; count < 3; count++) {
    expect(await verifier.verify(createRequest(payment, { claim }))).toMatchObject({ outcome: 'busy' });
  }
});
