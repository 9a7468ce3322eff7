import type { JobRecord, Journal } from '@tollgate/journal';
import { hashRetryKey } from '@tollgate/ledger';
import type { Hex, PaymentFailure } from '@tollgate/protocol';

import { changeResult } from '../../../chain/test/rpc-stand-in.js';
import { PRICE } from '../use-signed-payment-verifier.js';
import { leaseOf, type SignedMethod, type Verifiers } from './payment-method.js';
import { createSignedRows } from './signed-rows.js';

/** The rows of a payment that was settled already, by a relayer or by another account. */
export function describeSettledPayments(method: SignedMethod, verifiers: Verifiers): void {
  const { abandon, ask, parts, askAboutHash } = verifiers;
  const { pay, settle, moves } = method;
  const { own, refused, recordOf, settleByRelayer, settleAgo } = createSignedRows(method, verifiers);

  describe(`a payment by ${method.name} that is on the chain`, () => {
    // Prevents: an observer sends it, and the payer is charged and refused.
    it('is claimed for the payer, whoever sent it, for the amount that was moved', async () => {
      const payment = await pay();
      const settled = { payer: own(), txHash: await settle(payment, moves), amountBaseUnits: String(moves) };
      expect(await ask(payment, { claim: null })).toEqual({ outcome: 'valid', ...settled });
      const lease = { id: method.idOf(payment) };
      expect(await ask(payment)).toMatchObject({ outcome: 'claimed', ...settled, lease });
      expect(await ask(payment)).toMatchObject({ outcome: 'busy' });
      expect(await ask(payment, { claim: null })).toMatchObject({ outcome: 'valid', ...settled });
    });

    it('is claimed for the same retry key once its first lease has run out', async () => {
      const payment = await pay();
      const claim = { retryKey: hashRetryKey('again'), fingerprint: 'same' };
      expect(await abandon(payment, claim)).toMatchObject({ outcome: 'claimed', txHash: null });
      const txHash = await settle(payment);
      const again = await ask(payment, { claim });
      expect(again).toMatchObject({ outcome: 'claimed', txHash, lease: { generation: 2 } });
      await parts().ledger.commit(leaseOf(again), null);
      expect(await ask(payment, { claim })).toMatchObject({ outcome: 'answered' });
      expect(await ask(payment)).toEqual({ outcome: 'conflict' });
      expect(await ask(payment, { claim: { fingerprint: 'same' } })).toEqual(refused('payment_used'));
    });

    it('is claimed after its expiry, even if a third party shows it', async () => {
      const { payment, settled: txHash } = await settleAgo(settle);
      expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash });
    });

    it('is still refused with another signature', async () => {
      const payment = await pay();
      await settle(payment);
      const signature: Hex = `0x${'11'.repeat(65)}`;
      expect(await ask({ ...payment, signature })).toEqual(refused('signature_invalid'));
    });

    // Prevents: the hash of a settled payment buys a second answer, or its signature does after the hash.
    it(`buys by the hash of its transaction as ${method.byHash}`, async () => {
      const [signedFirst, hashFirst] = [await pay(), await pay()];
      const hashes = [await settle(signedFirst), await settle(hashFirst)] as const;
      const claim = { fingerprint: 'one-request' };
      const lease = leaseOf(await ask(signedFirst, { claim }));
      const [early, byHash] = [await askAboutHash(hashes[0]), await askAboutHash(hashes[1], { request: claim })];
      await parts().ledger.commit(lease, null);
      const late = await askAboutHash(hashes[0], { request: claim });
      if (method.byHash === 'belongs_to_permit') {
        const belongs = { outcome: 'refused', failure: 'belongs_to_permit' };
        expect([early, byHash, late]).toEqual([belongs, belongs, belongs]);
        return;
      }
      expect([early, late]).toMatchObject([{ outcome: 'busy' }, { outcome: 'refused', failure: 'payment_used' }]);
      expect(byHash).toMatchObject({ payer: own(), lease: { id: method.idOf(hashFirst) } });
      expect(await ask(hashFirst)).toMatchObject({ outcome: 'busy' });
      await parts().ledger.commit(leaseOf(byHash), null);
      expect(await ask(hashFirst, { claim })).toEqual(refused('payment_used'));
    });

    const elsewhere = (log: object) => ({ ...log, address: `0x${'12'.repeat(20)}` });
    it.each<[string, string, Parameters<typeof changeResult>]>([
      ['a log that was not asked for', 'rpc_malformed', ['eth_getLogs', (logs: object[]) => logs.map(elsewhere)]],
      ['no list of logs', 'rpc_malformed', ['eth_getLogs', () => null]],
      ['no receipt', 'rpc_inconsistent', ['eth_getTransactionReceipt', () => null]],
    ])('is unavailable if the server returns %s', async (_, reason, fault) => {
      const payment = await pay();
      const txHash = await settle(payment);
      parts().rpc.fail(changeResult(...fault));
      expect(await ask(payment)).toEqual({ outcome: 'unavailable', reason });
      parts().rpc.fail(undefined);
      expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash });
    });

    it('is unavailable if the server refuses to search so many blocks', async () => {
      const payment = await pay();
      await settle(payment);
      const error = { code: -32602, message: 'block range too large' };
      parts().rpc.fail({
        kind: 'rewrite',
        rewrite: (answers) => answers.map((one) => (one.method === 'eth_getLogs' ? { id: one.id, error } : one)),
      });
      expect(await ask(payment)).toEqual({ outcome: 'unavailable', reason: 'rpc_error' });
    });
  });

  describe(`a settled payment by ${method.name} whose price has changed since`, () => {
    const higher = { terms: { priceBaseUnits: String(PRICE + 1n) } };
    const failure = method.codes['one unit less than the price'] as PaymentFailure;
    const priced = () => refused(failure);

    // Prevents: the payer is asked to sign anew, is charged twice, and nothing is on record.
    it('is refused, and recorded for a refund with the amount that was moved', async () => {
      const payment = await pay();
      await abandon(payment);
      await settle(payment, moves);
      expect(await ask(payment, higher)).toEqual(priced());
      const record = await recordOf(payment);
      expect(record).toMatchObject({ failure, payer: own(), amountBaseUnits: String(moves) });
      expect(record?.detail).toBeUndefined();
    });

    it('is refused without a record if it has bought an answer', async () => {
      const payment = await pay();
      await settle(payment);
      const lease = leaseOf(await ask(payment));
      expect(await ask(payment, higher)).toMatchObject({ outcome: 'busy' });
      await parts().ledger.commit(lease, null);
      expect(await ask(payment, higher)).toEqual(priced());
      expect(await recordOf(payment)).toBeUndefined();
    });

    it('is refused without a record if the nonce went into another payment', async () => {
      const payment = await pay();
      await settle(await pay({ nonceOf: payment, amount: 5n }));
      expect(await ask(payment, higher)).toEqual(priced());
      expect(await recordOf(payment)).toBeUndefined();
    });

    it('is not refused before its settlement is confirmed', async () => {
      const payment = await pay();
      await settle(payment);
      const early = await ask(payment, { ...higher, rules: { confirmations: 3 } });
      expect(early).toMatchObject({ outcome: 'unavailable', reason: 'not_confirmed' });
      expect(await recordOf(payment)).toBeUndefined();
    });

    // Prevents: a lagging server says that the nonce is free, or a reorganisation has freed it for a moment.
    it('is not refused while the server does not show the transaction that the relayer has seen mined', async () => {
      const payment = await pay();
      const journal = await settleByRelayer(payment);
      for (const name of method.foundBy) {
        parts().rpc.fail(changeResult(name, () => (name === 'eth_getLogs' ? [] : null)));
        expect(await ask(payment, { ...higher, journal })).toEqual({
          outcome: 'unavailable',
          reason: 'rpc_inconsistent',
        });
      }
      expect(await recordOf(payment)).toBeUndefined();
    });

    it('is recorded if its job is forgotten and the server shows no log of it', async () => {
      const payment = await pay();
      await settleByRelayer(payment);
      parts().rpc.fail(changeResult('eth_getLogs', () => []));
      const readJob = jest.fn<ReturnType<Journal['readJob']>, []>().mockResolvedValue(null);
      readJob.mockResolvedValueOnce({ state: 'FINAL', steps: [] } as unknown as JobRecord);
      expect(await ask(payment, { ...higher, journal: { readJob } })).toEqual(priced());
      const detail = expect.stringContaining(method.unfound.detail) as string;
      expect(await recordOf(payment)).toMatchObject({ ...method.unfound, detail });
    });
  });
}
