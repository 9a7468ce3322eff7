import { createOwner, signedPaymentId } from '@tollgate/ledger';
import { nonceOf, type Hex, type SignedAuthorization } from '@tollgate/protocol';
import type { SignedPaymentVerdict } from '@tollgate/transport';
import { numberToHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { putIntoJob } from '../../test/conformance/signed-rows.js';
import { cancelAuthorization, submitAuthorization } from '../../test/sign-authorization.js';
import { PRICE, useSignedPaymentVerifier } from '../../test/use-signed-payment-verifier.js';
import { Exposure } from './exposure.js';

const verifiers = useSignedPaymentVerifier();
const { parts, asset, domain, createRequest, createVerifier, signPayment } = verifiers;

const LEASE_MS = 600_000;
const TOO_LOW = { outcome: 'refused', failure: 'balance_too_low' };
const CLAIMED = { outcome: 'claimed' };

/** A payer with the balance for `count` payments. */
async function fund(count: number) {
  const privateKey = generatePrivateKey();
  const from = privateKeyToAccount(privateKey).address.toLowerCase() as Hex;
  await transferTokens(parts().devnet, { to: from, amountBaseUnits: PRICE * BigInt(count) });
  const sign = (changes: { nonce?: Hex } = {}) => signPayment({ from, ...changes }, { privateKey });
  return { from, privateKey, sign };
}

const signMany = (payer: Awaited<ReturnType<typeof fund>>, count: number) =>
  Promise.all(Array.from({ length: count }, () => payer.sign()));

function verify(
  verifier: ReturnType<typeof createVerifier>,
  payment: SignedAuthorization,
  owner = createOwner(),
): Promise<SignedPaymentVerdict> {
  return verifier.verify(createRequest(payment, { claim: { owner, fingerprint: owner, leaseMs: LEASE_MS } }));
}

const giveBack = (payment: SignedAuthorization, owner: string) =>
  parts().ledger.releaseOwner(signedPaymentId({ chainId: 1328, asset: asset() }, payment), owner);

describe('signed payments over one balance', () => {
  // Prevents: payments signed over one balance each have a resource produced, and one of them is paid.
  it('are claimed while the balance covers them, and refused beyond it', async () => {
    const verifier = createVerifier();
    const payments = await signMany(await fund(2), 6);
    const verdicts = await Promise.all(payments.map((payment) => verify(verifier, payment)));
    const outcomes = verdicts.map(({ outcome }) => outcome).sort();
    expect(outcomes).toEqual(['claimed', 'claimed', ...Array<string>(4).fill('refused')]);
    for (const verdict of verdicts) if (verdict.outcome === 'refused') expect(verdict).toMatchObject(TOO_LOW);
  });

  // Prevents: a payment that was moved is taken off the balance and still counted as open.
  it('are no longer counted once they are moved, or cannot be', async () => {
    const verifier = createVerifier();
    const payer = await fund(4);
    const [moved, cancelled, ...others] = (await signMany(payer, 6)) as [SignedAuthorization, ...SignedAuthorization[]];
    for (const payment of [moved, cancelled!]) expect(await verify(verifier, payment)).toMatchObject(CLAIMED);
    await submitAuthorization(parts().devnet, moved);
    await cancelAuthorization(parts().devnet, cancelled!.authorization, { domain: domain(), ...payer });
    for (const payment of others.slice(0, 3)) expect(await verify(verifier, payment)).toMatchObject(CLAIMED);
    expect(await verify(verifier, others[3]!)).toMatchObject(TOO_LOW);
  });

  // Prevents: a payer that got nothing for a payment, or whose gateway died, is refused the next one.
  it('are no longer counted once no request holds them', async () => {
    const verifier = createVerifier();
    const [first, second] = await signMany(await fund(1), 2);
    const owner = createOwner();
    expect(await verify(verifier, first!, owner)).toMatchObject(CLAIMED);
    expect(await verify(verifier, second!)).toMatchObject(TOO_LOW);
    await giveBack(first!, owner);
    expect(await verify(verifier, second!)).toMatchObject(CLAIMED);
    expect(await verify(verifier, first!)).toMatchObject(TOO_LOW);
  });

  it('are counted while a relayer has them, whichever request held them', async () => {
    const verifier = createVerifier();
    const [first, second] = await signMany(await fund(1), 2);
    const owner = createOwner();
    expect(await verify(verifier, first!, owner)).toMatchObject(CLAIMED);
    await putIntoJob(verifiers, first!);
    await giveBack(first!, owner);
    expect(await verify(verifier, second!)).toMatchObject(TOO_LOW);
  });

  // Prevents: a repeated question has its payment refused while the first answer is acted on.
  it('are each counted once, however often and wherever they are asked about', async () => {
    const [verifier, other] = [createVerifier(), createVerifier()];
    const [first, second] = await signMany(await fund(1), 2);
    const owner = createOwner();
    const twice = await Promise.all([verify(verifier, first!, owner), verify(verifier, first!, owner)]);
    expect(twice).toMatchObject([CLAIMED, CLAIMED]);
    expect(await verify(verifier, first!, owner)).toMatchObject(CLAIMED);
    expect(await verify(verifier, first!)).toMatchObject({ outcome: 'busy' });
    // Each verifier counts only what it was asked about, and refuses nothing that another has claimed.
    expect(await verify(other, second!)).toMatchObject(CLAIMED);
    expect(await verify(other, first!, owner)).toMatchObject({ outcome: 'unavailable', reason: 'payer_busy' });
    expect(await verify(verifier, first!, owner)).toMatchObject(CLAIMED);
  });

  it('are busy rather than refused while too many are open to look up', async () => {
    const verifier = createVerifier();
    const payments = await signMany(await fund(20), 21);
    const owners = payments.map(() => createOwner());
    for (const [index, payment] of payments.slice(0, 20).entries()) {
      expect(await verify(verifier, payment, owners[index])).toMatchObject(CLAIMED);
    }
    await giveBack(payments[19]!, owners[19]!);
    const last = payments[20]!;
    expect(await verify(verifier, last)).toMatchObject({ outcome: 'unavailable', reason: 'payer_busy' });
    expect(await verify(verifier, last)).toMatchObject(CLAIMED);
  });
});

describe('the memory of open payments', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const createExposure = (isTaken = false) =>
    new Exposure({
      chain: { readMeans: () => Promise.resolve({ balanceBaseUnits: PRICE, areTaken: [isTaken] }) },
      mayStillMove: ({ payment }) => Promise.resolve(BigInt(nonceOf(payment)) === 1n),
    });

  /** Claims a payment of a payer whose balance covers one. */
  async function claim(open: Exposure, payer: number, nonce: number): Promise<string> {
    const [from, to]: [Hex, Hex] = [numberToHex(payer, { size: 20 }), numberToHex(1, { size: 20 })];
    const terms = {
      chainId: 1328,
      asset: to,
      assetName: 'USDC',
      assetVersion: '2',
      payTo: to,
      priceBaseUnits: String(PRICE),
    };
    const authorization = { from, to, value: String(PRICE), validAfter: '0', validBefore: '1' };
    const signed = { ...authorization, nonce: numberToHex(nonce, { size: 32 }) };
    const opened = await open.open(
      { terms, payment: { kind: 'authorization', authorization: signed, signature: '0x12' } },
      { balanceBaseUnits: PRICE, deadlineMs: 0 },
    );
    if (typeof opened === 'string') return opened;
    open.close(opened, { isClaimed: true });
    return 'claimed';
  }

  it('goes back five minutes at most', async () => {
    const open = createExposure();
    expect([await claim(open, 1, 1), await claim(open, 1, 2)]).toEqual(['claimed', 'balance_too_low']);
    jest.advanceTimersByTime(299_000);
    expect(await claim(open, 1, 2)).toBe('balance_too_low');
    jest.advanceTimersByTime(1_001);
    expect(await claim(open, 1, 2)).toBe('claimed');
  });

  // Prevents: a payer that has paid, even through a third party that was faster, gets a refusal for a low balance and
  // pays again.
  it('refuses no payment that was moved while it was looked up', async () => {
    const open = createExposure(true);
    expect([await claim(open, 1, 1), await claim(open, 1, 2)]).toEqual(['claimed', 'payer_busy']);
  });

  it('holds twenty thousand payments at most', async () => {
    const open = createExposure();
    for (let payer = 1; payer <= 20_000; payer++) await claim(open, payer, 1);
    expect(await claim(open, 2, 2)).toBe('balance_too_low');
    expect(await claim(open, 1, 2)).toBe('claimed');
  });
});
