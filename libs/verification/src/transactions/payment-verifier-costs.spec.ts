import { randomBytes } from 'node:crypto';

import { bundleCalls, planTransfer, splitSignature } from '@tollgate/chain';
import { hashRetryKey } from '@tollgate/ledger';
import { lowerHex, type Hex } from '@tollgate/protocol';

import { mineReceiptBomb } from '../../../../test/harness/chain/mine-receipt-bomb.js';
import { signAuthorization } from '../../../../tools/devnet/chain/sign-authorization.js';
import { sendTransaction, transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { MULTICALL3 } from '../../../../tools/devnet/protocols/place-contracts.js';
import { OTHER_PAY_TO, PRICE, usePaymentVerifier } from '../../test/use-payment-verifier.js';

const { parts, payer, ask, createVerifier, refusals } = usePaymentVerifier();

const pay = (amountBaseUnits = PRICE) => transferTokens(parts().devnet, { amountBaseUnits });
const payElsewhere = () => transferTokens(parts().devnet, { amountBaseUnits: PRICE, to: `0x${'12'.repeat(20)}` });
/** A transaction that settles several signed payments. */
const settleTogether = async (count: number): Promise<Hex> => {
  const { devnet } = parts();
  const sign = () => signAuthorization(devnet, payer(), { value: String(PRICE) });
  const payments = await Promise.all(Array.from({ length: count }, sign));
  const places = { asset: devnet.asset.toLowerCase() as Hex, multicall3: MULTICALL3, isDeployed: true };
  const calls = payments.map(({ authorization, signature }) => ({
    ...planTransfer(authorization, splitSignature(signature)!, places),
    mayFail: false,
  }));
  return sendTransaction(devnet, bundleCalls(MULTICALL3, calls));
};
const unknown = (): Hex => `0x${randomBytes(32).toString('hex')}`;
const refused = (failure: string) => ({ outcome: 'refused', failure });
/** Whole, so that a difference names the reason of a refusal. */
const claimed = {
  outcome: 'claimed',
  bound: false,
  lease: expect.anything() as unknown,
  payer: expect.anything() as unknown,
  amountBaseUnits: expect.any(String) as unknown,
};
/** How often the chain was asked for receipts meanwhile. */
const lookupsDuring = async (work: () => Promise<unknown>): Promise<number> => {
  parts().rpc.receiptsOf.length = 0;
  await work();
  return parts().rpc.receiptsOf.length;
};

describe('a transaction that is not a payment', () => {
  it.each<[string, () => Promise<Hex>]>([
    ['transfer_missing', payElsewhere],
    ['transaction_failed', () => pay(10n ** 30n)],
    ['receipt_too_large', () => mineReceiptBomb(parts().devnet, { logs: 6_000 })],
  ])('is looked up once while %s is remembered', async (failure, mine) => {
    const [txHash, verifier] = [await mine(), createVerifier()];
    expect(await ask(txHash, { verifier })).toEqual(refused(failure));
    const again = async () => expect(await ask(txHash, { verifier })).toEqual(refused(failure));
    expect(await lookupsDuring(again)).toBe(0);
    expect((await refusals()).filter(({ payment }) => payment?.includes(txHash))).toEqual([]);
  });

  it('is looked up again if another request may accept it', async () => {
    const [txHash, verifier] = [await pay(PRICE - 1n), createVerifier()];
    expect(await ask(txHash, { verifier })).toEqual(refused('amount_too_low'));
    const request = { priceBaseUnits: String(PRICE - 1n) };
    expect(await ask(txHash, { verifier, request })).toEqual(claimed);
  });

  // Prevents: a payment by one option is refused for a minute because it was first shown as one by another.
  it('is looked up again as a payment by another option', async () => {
    const { devnet, otherToken } = parts();
    const payment = { token: otherToken, to: OTHER_PAY_TO, amountBaseUnits: PRICE };
    const [txHash, verifier] = [await transferTokens(devnet, payment), createVerifier()];
    expect(await ask(txHash, { verifier })).toEqual(refused('transfer_missing'));
    const request = { asset: lowerHex(otherToken), payTo: OTHER_PAY_TO };
    expect(await ask(txHash, { verifier, request })).toEqual(claimed);
  });

  it('is looked up again while its block may be replaced', async () => {
    const [txHash, verifier] = [await payElsewhere(), createVerifier({ confirmations: 3 })];
    const again = async () => expect(await ask(txHash, { verifier })).toEqual(refused('transfer_missing'));
    expect(await lookupsDuring(again)).toBe(1);
    expect(await lookupsDuring(again)).toBe(1);
    await callRpc(parts().devnet.rpcUrl, 'anvil_mine', ['0x2']);
    expect(await lookupsDuring(again)).toBe(1);
    expect(await lookupsDuring(again)).toBe(0);
  });

  it('is looked up again if it is not mined yet, or the chain did not answer', async () => {
    const [txHash, verifier] = [unknown(), createVerifier()];
    const again = () => ask(txHash, { verifier });
    expect(await lookupsDuring(again)).toBe(1);
    expect(await lookupsDuring(again)).toBe(1);
    const paid = await pay();
    parts().rpc.fail({ kind: 'flood', bytes: 50_000_000 });
    expect(await ask(paid, { verifier })).toMatchObject({ outcome: 'unavailable', reason: 'rpc_response_too_large' });
    parts().rpc.fail(undefined);
    expect(await ask(paid, { verifier })).toEqual(claimed);
  });
});

describe("a client's share", () => {
  const usedUp = { outcome: 'unavailable', reason: 'client_share_used_up', retryAfterMs: expect.any(Number) as number };

  // Prevents: one address keeps the chain busy for all, or a payment that was not looked up is refused.
  it('is used up by transactions that are not payments: then its payments wait, and those of all others are accepted', async () => {
    const verifier = createVerifier({}, 0, {}, { lookupsPerMinute: 3 });
    const elsewhere = await payElsewhere();
    expect(await ask(elsewhere, { verifier })).toEqual(refused('transfer_missing'));
    for (let count = 0; count < 2; count++) {
      expect(await ask(unknown(), { verifier })).toMatchObject(refused('receipt_missing'));
    }
    const paid = await pay();
    expect(await lookupsDuring(async () => expect(await ask(paid, { verifier })).toEqual(usedUp))).toBe(0);
    // A final refusal needs no look-up.
    expect(await ask(elsewhere, { verifier })).toEqual(refused('transfer_missing'));
    const another = { verifier, request: { clientAddress: '198.51.100.7' } };
    expect(await ask(paid, another)).toEqual(claimed);
  });

  it('is not used up by payments, nor by repeating one', async () => {
    const verifier = createVerifier({}, 0, {}, { lookupsPerMinute: 1, bytesPerMinute: 1 });
    for (let count = 0; count < 3; count++) {
      const txHash = await pay();
      expect(await ask(txHash, { verifier })).toEqual(claimed);
      expect(await ask(txHash, { verifier })).toMatchObject({ outcome: 'busy' });
    }
  });

  // Prevents: a public hash costs the ledger a look at each of up to fifty payments, as often as anyone likes.
  it.each<[string, object, object]>([
    ['without the retry key', {}, refused('payment_used')],
    ['with another request', { fingerprint: 'another' }, { outcome: 'conflict' }],
  ])('is used up by the payments of others in a shared settlement, shown %s', async (_, changes, expected) => {
    const [txHash, verifier] = [await settleTogether(3), createVerifier({}, 0, {}, { lookupsPerMinute: 3 })];
    const own = { fingerprint: 'f', retryKey: hashRetryKey('own key') };
    for (const retryKey of [null, null, own.retryKey]) {
      const verdict = await ask(txHash, { verifier, request: { ...own, retryKey } });
      if (verdict.outcome !== 'claimed') throw new Error(verdict.outcome);
      await parts().ledger.commit(verdict.lease, null);
    }
    for (let count = 0; count < 5; count++) {
      expect(await ask(txHash, { verifier, request: own })).toMatchObject({ outcome: 'answered' });
    }
    expect(await ask(txHash, { verifier, request: { ...own, retryKey: null, ...changes } })).toEqual(expected);
    expect(await ask(await pay(), { verifier })).toEqual(usedUp);
  });

  it('is used up by receipts that are too large, even few of them', async () => {
    const verifier = createVerifier({}, 0, {}, { bytesPerMinute: 1_500_000 });
    for (let count = 0; count < 2; count++) {
      const bomb = await mineReceiptBomb(parts().devnet, { logs: 6_000 });
      expect(await ask(bomb, { verifier })).toEqual(refused('receipt_too_large'));
    }
    expect(await ask(await pay(), { verifier })).toEqual(usedUp);
  });
});
