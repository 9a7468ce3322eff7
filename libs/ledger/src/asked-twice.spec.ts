import { CHAIN_ID, leaseOf, sampleClaim, sampleHash, sampleTransfer } from '../test/sample-payments.js';
import { useLedger } from '../test/use-ledger.js';
import { createFingerprint, createOwner, hashRetryKey } from './create-keys.js';
import type { ClaimRequest, Lease, PaymentCandidate } from './types.js';

const otherFingerprint = createFingerprint({ method: 'POST', path: '/other', query: '' });

/** A gateway asks again when a verdict is late, and both copies of the question may be handled. */
describe('the second copy of a question, handled after its request has ended', () => {
  const { ledger } = useLedger();

  const transfers = (count: number): PaymentCandidate[] => {
    const txHash = sampleHash();
    return Array.from({ length: count }, (_, logIndex) =>
      sampleTransfer(ledger, { id: { kind: 'transfer', chainId: CHAIN_ID, txHash, logIndex } }),
    );
  };
  const authorizations = (count: number): PaymentCandidate[] =>
    Array.from({ length: count }, () => {
      const [asset, from] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`] as const;
      return sampleTransfer(ledger, {
        id: { kind: 'authorization', chainId: CHAIN_ID, asset, from, nonce: sampleHash() },
      });
    });
  const release = (lease: Lease) => ledger.release(lease, { counted: true });
  const giveUp = (lease: Lease) => ledger.releaseOwner(lease.id, lease.owner);
  const commit = (lease: Lease) => ledger.commit(lease, null);
  const another = (request: ClaimRequest): ClaimRequest => ({
    ...request,
    owner: createOwner(),
    fingerprint: otherFingerprint,
  });

  it.each([
    ['released', release, null],
    ['released', release, hashRetryKey('key')],
    ['released for its owner', giveUp, null],
    ['released for its owner', giveUp, hashRetryKey('key')],
  ])('takes no payment that was %s', async (_, end, retryKey) => {
    const request = sampleClaim(ledger, { candidates: transfers(1), retryKey });
    await end(leaseOf(await ledger.claim(request)));
    expect(await ledger.claim(request)).toEqual({ outcome: 'late' });
    leaseOf(await ledger.claim(another(request)));
  });

  it.each([
    ['transfer of a transaction', transfers, release],
    ['transfer of a transaction', transfers, commit],
    ['authorization of a transaction', authorizations, release],
    ['authorization of a transaction', authorizations, commit],
  ])('takes no other %s', async (_, candidatesOf, end) => {
    const request = sampleClaim(ledger, { candidates: candidatesOf(2), retryKey: null });
    await end(leaseOf(await ledger.claim(request)));
    expect(await ledger.claim(request)).toEqual({ outcome: 'late' });
    leaseOf(await ledger.claim(another(request)));
  });

  it('finds the answer if it has a retry key', async () => {
    const request = sampleClaim(ledger, { candidates: transfers(2), retryKey: hashRetryKey('key') });
    const lease = leaseOf(await ledger.claim(request));
    await commit(lease);
    expect(await ledger.claim(request)).toEqual({ outcome: 'answered', id: lease.id });
  });
});
