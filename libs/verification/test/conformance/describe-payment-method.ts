import { createOwner, hashRetryKey } from '@tollgate/ledger';
import type { Hex, PaymentFailure } from '@tollgate/protocol';

import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { changeResult, type RpcAnswer, type RpcFault } from '../../../chain/test/rpc-stand-in.js';
import { PRICE } from '../use-signed-payment-verifier.js';
import { describeReviewedPayments } from './describe-reviewed-payments.js';
import { describeSettledPayments } from './describe-settled-payments.js';
import { describeSignedPayments } from './describe-signed-payments.js';
import {
  accountOf,
  leaseOf,
  type PaymentMethod,
  type PaymentTerms,
  type SentMethod,
  type SignedMethod,
  type TermsRow,
  type Verdict,
  type Verifiers,
} from './payment-method.js';

/** Code of a payer's contract that fails when it is asked for a signature. */
const FAILING_CONTRACTS = [
  ['reverts', '0x60006000fd'],
  ['stops at an invalid instruction', '0xfe'],
  ['runs endlessly', '0x5b600056'],
  ['returns more than is read', '0x62ffffff6000f3'],
  ['returns the magic value in the wrong place', '0x63ffffffff60005260206000f3'],
  ['returns nothing', '0x00'],
  ['returns a megabyte', '0x620e00006000f3'],
  ['reverts with a megabyte', '0x620e00006000fd'],
] as const;

/** HTML, no batch, nothing, and an empty batch, in place of the answers to a batch. */
const MALFORMED = ['<html>maintenance</html>', '{"jsonrpc":"2.0","id":1,"result":null}', '', '[]'];
const OTHER_HASH = `0x${'3'.repeat(64)}`;

/**
 * The rules that hold for a payment of any method, each on a verifier with its own chain, Redis and ledger; for a
 * method whose payer signs also those before and after the payment is sent.
 */
export function describePaymentMethod<Payment>(
  method: PaymentMethod<Payment> & Partial<SentMethod<Payment>>,
  verifiers: Verifiers,
): void {
  const { parts, payer, refusals, createReferenceNow } = verifiers;
  const { codes, pay } = method;
  const isSigned = method.ask === undefined;
  const ask = method.ask ?? (verifiers.ask as unknown as SentMethod<Payment>['ask']);
  /** The verdict on a signed payment names its payer. */
  const refused = (failure: PaymentFailure, from = own()) =>
    isSigned ? { outcome: 'refused', failure, payer: from } : { outcome: 'refused', failure };
  const account = (index: number) => accountOf(parts().devnet, index);
  const addressOf = (index: number) => account(index).address.toLowerCase() as Hex;
  const own = () => payer().address.toLowerCase() as Hex;
  const inSeconds = (seconds: number) => BigInt(Math.floor(Date.now() / 1000) + seconds);
  const rpc = (name: string, params: unknown[] = []) => callRpc(parts().devnet.rpcUrl, name, params);
  const reads = isSigned ? 'eth_call' : 'eth_getTransactionReceipt';
  const tooNew = isSigned
    ? { outcome: 'unavailable', reason: 'not_confirmed' }
    : { outcome: 'refused', failure: 'not_confirmed' };
  const notConfirmed = { ...tooNew, retryAfterMs: 1000 };
  const recordsOf = async (payment: Payment) =>
    (await refusals()).filter((line) => line.payment?.includes(method.nameOf(payment)));

  beforeAll(() => method.prepare?.(parts().wallet));

  describe(`a payment by ${method.name}`, () => {
    it('is claimed, in one round trip', async () => {
      const payment = await pay();
      parts().rpc.requests.length = 0;
      const lease = { id: method.idOf(payment), owner: anything(), generation: anything(), untilMs: anything() };
      expect(await ask(payment)).toEqual({ outcome: 'claimed', lease, ...method.claimed(payment) });
      expect(parts().rpc.requests).toHaveLength(1);
    });

    const terms: Record<TermsRow, () => Partial<PaymentTerms<Payment>>> = {
      'one unit less than the price': () => ({ amount: PRICE - 1n }),
      'one unit more than the price': () => ({ amount: PRICE + 1n }),
      'more than the payer has': () => ({ amount: 10n ** 30n }),
      'another token': () => ({ token: parts().otherToken }),
      'another chain': () => ({ chainId: 1 }),
      'another recipient': () => ({ to: addressOf(3) }),
      'a start in the future': () => ({ validAfter: inSeconds(60) }),
      'a start beyond all time': () => ({ validAfter: 2n ** 256n - 1n }),
      'an expiry two days ago': () => ({ validBefore: inSeconds(-172_800) }),
      'an expiry in the past': () => ({ validBefore: inSeconds(-1) }),
      'an expiry too soon to settle it': () => ({ validBefore: inSeconds(5) }),
      "a signature of another account's key": () => ({ signer: account(1), from: payer().address }),
    };
    const rows = (Object.keys(terms) as TermsRow[]).flatMap((row) => {
      const code = codes[row];
      return typeof code === 'string' ? [[row, code, terms[row]] as const] : [];
    });
    it.each(rows)('over %s: %s', async (row, code, termsOf) => {
      const price = row === 'more than the payer has' ? { terms: { priceBaseUnits: String(10n ** 30n) } } : {};
      const payment = await pay(termsOf());
      parts().rpc.requests.length = 0;
      const verdict = await ask(payment, price);
      if (code === 'claimed') expect(verdict).toMatchObject({ outcome: 'claimed' });
      else expect(verdict).toEqual(refused(code));
      if (!isSigned) return;
      const asked = parts().rpc.requests;
      // A wrong recipient or validity is refused without a request to the RPC server. A wrong amount may have been settled.
      if (/recipient|future|beyond|two days/.test(row)) expect(asked).toEqual([]);
      if (code === 'amount_mismatch') expect(asked).toEqual([['eth_call', 'eth_chainId', 'eth_blockNumber']]);
    });

    it('is bound to its challenge: another reference, or none, does not redeem it', async () => {
      const payment = await pay();
      if (isSigned) {
        // A signature names no challenge: the gateway compares it, and asks for what is settled alone if it differs.
        expect(await ask(payment, { claim: { mustBeSettled: true } })).toEqual(refused('unknown_reference'));
        return;
      }
      const reference = await createReferenceNow();
      for (const shown of [
        { ...payment, reference },
        { ...payment, reference: undefined },
      ]) {
        expect(await ask(shown as Payment)).toEqual(refused('lock_mismatch'));
      }
    });

    it('is claimed once, of twenty simultaneous questions', async () => {
      const payment = await pay();
      const claim = { fingerprint: 'same-request' };
      const verdicts = await Promise.all(Array.from({ length: 20 }, () => ask(payment, { claim })));
      expect(verdicts.filter(({ outcome }) => outcome === 'claimed')).toHaveLength(1);
      expect(verdicts.filter(({ outcome }) => outcome === 'busy')).toHaveLength(19);
    });

    it('is claimed again by its owner, and after a release by its retry key alone', async () => {
      const payment = await pay();
      const claim = { owner: createOwner(), fingerprint: createOwner(), retryKey: hashRetryKey('mine') };
      const lease = leaseOf(await ask(payment, { claim }));
      expect(await ask(payment, { claim })).toMatchObject({ outcome: 'claimed', lease });
      expect(await ask(payment)).toMatchObject({ outcome: 'busy' });
      await parts().ledger.release(lease, { counted: true });
      expect(await ask(payment)).toEqual(refused('payment_used'));
      const again = { retryKey: hashRetryKey('mine') };
      expect(await ask(payment, { claim: again })).toMatchObject({ outcome: 'claimed' });
    });

    it('has its stored answer for the same request, and buys no other one', async () => {
      const payment = await pay();
      const claim = { fingerprint: 'print', retryKey: hashRetryKey('key') };
      const lease = leaseOf(await ask(payment, { claim }));
      await parts().ledger.commit(lease, { status: 200, headers: [], body: Buffer.from('answer') });
      expect(await ask(payment, { claim })).toMatchObject({ outcome: 'answered', id: lease.id });
      expect(await ask(payment, { claim: { ...claim, fingerprint: 'other' } })).toEqual({ outcome: 'conflict' });
      expect(await ask(payment, { claim: { fingerprint: 'print' } })).toEqual(refused('payment_used'));
    });

    it('is refused once it was released five times', async () => {
      const payment = await pay();
      for (let times = 0; times < 5; times++) {
        await parts().ledger.release(leaseOf(await ask(payment)), { counted: true });
      }
      expect(await ask(payment)).toEqual(refused('released_too_often'));
    });

    it('is unavailable while the chain gives no answer, and claimed when it does', async () => {
      const payment = await pay();
      const error = { code: -32005, message: 'limit exceeded' };
      const failing = (one: RpcAnswer) => (one.method === reads ? { id: one.id, error } : one);
      const faults: [RpcFault, string][] = [
        [{ kind: 'status', status: 503 }, 'rpc_http_error'],
        [{ kind: 'status', status: 429 }, 'rpc_rate_limited'],
        [{ kind: 'reset' }, 'rpc_unreachable'],
        [{ kind: 'truncate' }, 'rpc_malformed'],
        ...MALFORMED.map((text): [RpcFault, string] => [{ kind: 'body', text }, 'rpc_malformed']),
        [changeResult('eth_chainId', () => '0x1'), 'rpc_wrong_chain'],
        [changeResult(reads, () => '0x1234'), 'rpc_malformed'],
        [changeResult(reads, (result: object) => ({ ...result, transactionHash: OTHER_HASH })), 'rpc_malformed'],
        [{ kind: 'rewrite', rewrite: (answers) => answers.map(failing) }, 'rpc_error'],
      ];
      const verdicts: Verdict[] = [];
      for (const [fault] of faults) {
        parts().rpc.fail(fault);
        verdicts.push(await ask(payment));
      }
      expect(verdicts).toEqual(faults.map(([, reason]) => ({ outcome: 'unavailable', reason })));
      parts().rpc.fail(undefined);
      expect(await ask(payment)).toMatchObject({ outcome: 'claimed' });
    });

    it('is not asked about after the deadline, on other terms than the settings, or in a token that is not sold in', async () => {
      const payment = await pay();
      parts().rpc.requests.length = 0;
      const late = { request: { deadlineMs: parts().ledger.nowMs() - 1 } };
      expect(await ask(payment, late)).toEqual({ outcome: 'unavailable', reason: 'deadline_passed' });
      const differ = { outcome: 'unavailable', reason: 'settings_differ' };
      expect(await ask(payment, { terms: { chainId: 1 } })).toEqual(differ);
      expect(await ask(payment, { terms: { asset: addressOf(3) } })).toMatchObject(
        isSigned ? { outcome: 'refused', failure: 'wrong_network' } : differ,
      );
      // Signatures are judged for the recipients of other sellers too.
      if (!isSigned) expect(await ask(payment, { terms: { payTo: addressOf(3) } })).toEqual(differ);
      expect(parts().rpc.requests).toEqual([]);
    });

    const paySettled = async (): Promise<Payment> => {
      const payment = await pay();
      await method.settle(payment);
      return payment;
    };

    it('waits for its confirmations, and is not refused for lack of them', async () => {
      const payment = await paySettled();
      const rules = { confirmations: 3 };
      expect(await ask(payment, { rules })).toEqual(notConfirmed);
      const waiting = ask(payment, { rules, waitMs: 50_000 });
      await rpc('anvil_mine', ['0x2']);
      expect(await waiting).toMatchObject({ outcome: 'claimed' });
    });

    // Prevents: an answer is sold for money that the chain has given back.
    it('is sold by no transaction whose block is lost', async () => {
      const before = await rpc('evm_snapshot');
      const payment = await paySettled();
      const rules = { confirmations: 2 };
      expect(await ask(payment, { rules })).toEqual(notConfirmed);
      await rpc('evm_revert', [before]);
      await rpc('anvil_mine', ['0x3']);
      expect(await ask(payment, { rules })).toMatchObject(
        isSigned ? { outcome: 'claimed', txHash: null } : { outcome: 'refused', failure: 'receipt_missing' },
      );
    });

    it('is recorded for a refund if it comes after its window', async () => {
      const payment = await paySettled();
      // Below zero, because a chain that mines at once dates its blocks ahead.
      const late = { rules: { redemptionWindowMs: -60_000 } };
      for (let times = 0; times < 2; times++) expect(await ask(payment, late)).toEqual(refused('payment_too_old'));
      const facts = { failure: 'payment_too_old', payer: own(), amountBaseUnits: String(PRICE) };
      expect(await recordsOf(payment)).toEqual([expect.objectContaining(facts)]);
    });

    it('is recorded for a refund if the ledger may have forgotten it', async () => {
      const payment = await paySettled();
      await parts().redis.flushall();
      await parts().ledger.open({ chainId: 1328, blockNumber: Number(await rpc('eth_blockNumber')) });
      expect(await ask(payment)).toEqual(refused('older_than_ledger'));
      const detail = expect.stringContaining('may have been spent') as string;
      expect(await recordsOf(payment)).toEqual([expect.objectContaining({ failure: 'older_than_ledger', detail })]);
      await verifiers.ageLedger();
    });

    describe('of a contract wallet (EIP-1271)', () => {
      const wallet = () => parts().wallet.address;
      const byWallet = (index: number) => pay({ signer: account(index), from: wallet() });

      it('is claimed if the wallet accepts its signature, and refused if not', async () => {
        const payment = await byWallet(0);
        expect(await ask(payment)).toMatchObject({ outcome: 'claimed', payer: wallet().toLowerCase() });
        expect(await ask(await byWallet(2))).toEqual(refused('signature_invalid', wallet().toLowerCase() as Hex));
      });

      // Prevents: a contract that fails by design counts as a failing RPC server, and all clients are moved off that
      // server; or a server passes on a megabyte for each question, and all others wait for it.
      it.each(FAILING_CONTRACTS)('that %s is refused in a few requests of a few bytes', async (_, code) => {
        const payment = await byWallet(0);
        const before = await rpc('eth_getCode', [wallet(), 'latest']);
        await rpc('anvil_setCode', [wallet(), code]);
        parts().rpc.requests.length = 0;
        parts().rpc.longestAnswer = 0;
        try {
          expect(await ask(payment)).toEqual(refused('signature_invalid', wallet().toLowerCase() as Hex));
        } finally {
          await rpc('anvil_setCode', [wallet(), before]);
        }
        expect(parts().rpc.longestAnswer).toBeLessThan(method.longestRefusal);
        expect(parts().rpc.requests).toHaveLength(method.refusalRequests);
      });
    });
  });

  if (!isSigned) return;
  const signed = method as unknown as SignedMethod;
  describeSignedPayments(signed, verifiers);
  describeSettledPayments(signed, verifiers);
  describeReviewedPayments(signed, verifiers);
}

const anything = () => expect.anything() as unknown;
