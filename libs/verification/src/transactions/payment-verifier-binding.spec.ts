import { planPermitTransfer } from '@tollgate/chain';
import { hashRetryKey } from '@tollgate/ledger';
import { proofMessage, type Hex } from '@tollgate/protocol';
import { concatHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import { approvePermit2, signPermit, type PermitTerms } from '../../../../test/harness/chain/sign-permit.js';
import { encodeTransfer, sendTransaction, transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { PRICE, usePaymentVerifier } from '../../test/use-payment-verifier.js';

const { parts, ask, createReferenceNow, createRequest, createVerifier, payer } = usePaymentVerifier();

const sign = (privateKey: Hex, reference: string, txHash: Hex) =>
  privateKeyToAccount(privateKey).signMessage({ message: proofMessage(reference, txHash) });

describe('verifying a payment with a hash lock', () => {
  it('claims with the reference that matches it', async () => {
    const reference = await createReferenceNow();
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE, lockReference: reference.text });
    for (const policy of ['bound', 'transfer'] as const) {
      const request = { ...createRequest(txHash, { reference }), owner: 'same-owner', fingerprint: 'same' };
      expect(await createVerifier({ policy }).verify(request)).toMatchObject({ outcome: 'claimed', bound: true });
    }
  });

  it.each(['transfer', 'bound'] as const)('refuses another reference, and none, under policy %s', async (policy) => {
    const reference = await createReferenceNow();
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE, lockReference: reference.text });
    const other = await createReferenceNow();
    const refused = { outcome: 'refused', failure: 'lock_mismatch' };
    expect(await ask(txHash, { rules: { policy }, request: { reference: other } })).toEqual(refused);
    expect(await ask(txHash, { rules: { policy } })).toEqual(refused);
    const signature = await sign(payer().privateKey, other.text, txHash);
    expect(await ask(txHash, { rules: { policy }, request: { reference: other, signature } })).toEqual(refused);
  });

  it('gives the answer again to a request with the same reference', async () => {
    const reference = await createReferenceNow();
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE, lockReference: reference.text });
    const request = { reference, fingerprint: 'one-resource' };
    const first = await ask(txHash, { request });
    if (first.outcome !== 'claimed') throw new Error(first.outcome);
    await parts().ledger.commit(first.lease, { status: 200, headers: [], body: Buffer.from('answer') });
    expect(await ask(txHash, { request })).toMatchObject({ outcome: 'answered', id: first.lease.id });
    expect(await ask(txHash, { request: { reference } })).toEqual({ outcome: 'conflict' });
    const found = { chainId: 1328, txHash, fingerprint: 'one-resource', retryKey: hashRetryKey(reference.text) };
    expect(await parts().ledger.find(found)).toMatchObject({ outcome: 'answered' });
  });

  it('honours the price of the challenge', async () => {
    const reference = await createReferenceNow({ priceBaseUnits: '600' });
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: 600n, lockReference: reference.text });
    expect(await ask(txHash, { request: { reference } })).toMatchObject({ outcome: 'claimed', bound: true });
  });

  it("does not accept a lower price than the challenge's", async () => {
    const reference = await createReferenceNow({ priceBaseUnits: '3000' });
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE, lockReference: reference.text });
    expect(await ask(txHash, { request: { reference } })).toEqual({ outcome: 'refused', failure: 'amount_too_low' });
  });

  it('matches each lock of a batch to its transfer', async () => {
    const [one, two] = [await createReferenceNow(), await createReferenceNow()];
    const txHash = await parts().wallet.pay([
      { amountBaseUnits: PRICE, lockReference: one.text },
      { amountBaseUnits: PRICE, lockReference: two.text },
      { amountBaseUnits: PRICE },
    ]);
    const [second, first, bare] = [
      await ask(txHash, { request: { reference: two } }),
      await ask(txHash, { request: { reference: one } }),
      await ask(txHash),
    ];
    expect(second).toMatchObject({ outcome: 'claimed', bound: true, lease: { id: { logIndex: 1 } } });
    expect(first).toMatchObject({ outcome: 'claimed', bound: true, lease: { id: { logIndex: 0 } } });
    expect(bare).toMatchObject({ outcome: 'claimed', bound: false, lease: { id: { logIndex: 2 } } });
  });

  it('ignores trailing bytes that are not a lock, as wallets append them', async () => {
    const call = encodeTransfer(parts().devnet, { amountBaseUnits: PRICE });
    for (const tail of [
      '62735f'.repeat(12),
      '62735f6a6b376c',
      `3430324c${'00'.repeat(31)}`,
      `3430324d${'00'.repeat(32)}`,
    ]) {
      const data = concatHex([call, `0x${tail}`]);
      const txHash = await sendTransaction(parts().devnet, { to: parts().devnet.asset, data });
      expect(await ask(txHash)).toMatchObject({ outcome: 'claimed', bound: false });
    }
  });

  it('is not checked under policy receipt', async () => {
    const reference = await createReferenceNow();
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: 1n, lockReference: reference.text });
    expect(await ask(txHash, { rules: { policy: 'receipt' } })).toMatchObject({
      outcome: 'claimed',
      bound: false,
      payer: payer().address.toLowerCase(),
      lease: { id: { kind: 'transaction', chainId: 1328, txHash } },
    });
  });
});

describe('verifying a payment with a signature', () => {
  // Prevents: a stranger who knows the hash takes a payment whose first request ended without an answer.
  it('keeps the payment for its reference until it is answered', async () => {
    const [reference, other] = [await createReferenceNow(), await createReferenceNow()];
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE });
    const signature = await sign(payer().privateKey, reference.text, txHash);
    const terms = { fingerprint: 'one-resource', keyReserves: false } as const;
    const own = { ...terms, reference, signature, retryKey: hashRetryKey(reference.text) };
    const first = await ask(txHash, { request: own });
    if (first.outcome !== 'claimed') throw new Error(first.outcome);
    await parts().ledger.release(first.lease, { counted: false });
    const foreign = { ...terms, reference: other, retryKey: hashRetryKey(other.text) };
    expect(await ask(txHash, { request: foreign })).toEqual({ outcome: 'refused', failure: 'payment_used' });
    expect(await ask(txHash, { request: own })).toMatchObject({ outcome: 'claimed' });
  });

  it("binds by the payer's own signature (EIP-191)", async () => {
    const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE });
    const reference = await createReferenceNow();
    const signature = await sign(payer().privateKey, reference.text, txHash);
    const verdict = await ask(txHash, { rules: { policy: 'bound' }, request: { reference, signature } });
    expect(verdict).toMatchObject({ outcome: 'claimed', bound: true });
  });

  it.each(['transfer', 'bound'] as const)(
    "refuses another account's, or one over something else (%s)",
    async (policy) => {
      const txHash = await transferTokens(parts().devnet, { amountBaseUnits: PRICE });
      const reference = await createReferenceNow();
      const invalid: Hex[] = [
        await sign(parts().devnet.accounts[2]!.privateKey, reference.text, txHash),
        await sign(payer().privateKey, 'chain-1-other', txHash),
        await sign(payer().privateKey, reference.text, `0x${'11'.repeat(32)}`),
        `0x${'00'.repeat(65)}`,
        '0x1234',
      ];
      for (const signature of invalid) {
        const verdict = await ask(txHash, { rules: { policy }, request: { reference, signature } });
        expect(verdict).toEqual({ outcome: 'refused', failure: 'signature_invalid' });
      }
    },
  );

  it('counts a contract that reverts as a refusal, and a failure of the chain as none', async () => {
    const txHash = await parts().wallet.pay([{ amountBaseUnits: PRICE }]);
    const reference = await createReferenceNow();
    const request = { reference, signature: `0x${'22'.repeat(64)}1b` } as const;
    const answerCall = (error: { code: number; message: string }) =>
      parts().rpc.fail({
        kind: 'rewrite',
        rewrite: (answers) => answers.map((one) => (one.method === 'eth_call' ? { id: one.id, error } : one)),
      });
    answerCall({ code: 3, message: 'execution reverted' });
    expect(await ask(txHash, { request })).toEqual({ outcome: 'refused', failure: 'signature_invalid' });
    answerCall({ code: -32005, message: 'limit exceeded' });
    expect(await ask(txHash, { request })).toEqual({ outcome: 'unavailable', reason: 'rpc_error' });
  });
});

describe('verifying the transaction of a payment by Permit2', () => {
  const settle = async (terms: Omit<PermitTerms, 'amountBaseUnits'> = {}): Promise<Hex> => {
    const { devnet } = parts();
    const signed = await signPermit(devnet, devnet.accounts[1]!, { amountBaseUnits: 2n * PRICE, ...terms });
    return sendTransaction(devnet, planPermitTransfer(signed, PRICE));
  };
  beforeAll(() => approvePermit2(parts().devnet, { owner: parts().devnet.accounts[1]!.address }));

  // Prevents: one payment is redeemed twice, by its signature and by the transaction that moved it.
  it("refuses it with its payer's signature too: the signed permit is redeemed", async () => {
    const txHash = await settle();
    const reference = await createReferenceNow();
    const signature = await sign(parts().devnet.accounts[1]!.privateKey, reference.text, txHash);
    expect(await ask(txHash, { request: { reference, signature } })).toMatchObject({ failure: 'belongs_to_permit' });
  });

  it('refuses one to another recipient like any other transfer', async () => {
    const txHash = await settle({ to: parts().devnet.accounts[3]!.address });
    expect(await ask(txHash)).toMatchObject({ outcome: 'refused', failure: 'transfer_missing' });
  });
});
