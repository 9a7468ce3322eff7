import { randomBytes } from 'node:crypto';

import type { JobRecord, JobState, Journal } from '@tollgate/journal';
import { hashRetryKey } from '@tollgate/ledger';
import { type Hex, type PaymentFailure, recipientOf, signedAmountOf, type SignedPayment } from '@tollgate/protocol';
import { nameSettlement, SettlementRecords } from '@tollgate/settlement';
import { numberToHex } from 'viem';

import { transferTokens, waitUntilMined } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { changeResult, REFUSED_NUMBERS } from '../../../chain/test/rpc-stand-in.js';
import { PRICE } from '../use-signed-payment-verifier.js';
import { accountOf, leaseOf, type SignedMethod, type Verifiers } from './payment-method.js';

/** Answers any signature with the magic value of EIP-1271. */
const WILLING = '0x631626ba7e60e01b60005260206000f3';
const UNWILLING = '0x60006000f3';
const INCONSISTENT = { outcome: 'unavailable', reason: 'rpc_inconsistent' };

/** The rows of a signature whose money has moved, or may have: its payer has paid, whoever sent it. */
export function describeSettledPayments(method: SignedMethod, verifiers: Verifiers): void {
  const { abandon, ageLedger, ask, parts, payer, refusals, askAboutHash, createRequest } = verifiers;
  const { pay, settle, moves } = method;
  const addressOf = (index: number) => accountOf(parts().devnet, index).address.toLowerCase() as Hex;
  const own = () => payer().address.toLowerCase() as Hex;
  const refused = (failure: PaymentFailure, from = own()) => ({ outcome: 'refused', failure, payer: from });
  const nowS = () => Math.floor(Date.now() / 1000);
  const rpc = (name: string, params: unknown[] = []) => callRpc(parts().devnet.rpcUrl, name, params);
  const recordOf = async (payment: SignedPayment) =>
    (await refusals()).find((line) => line.payment?.includes(method.nameOf(payment)));
  const random = (bytes: number): Hex => `0x${randomBytes(bytes).toString('hex')}`;

  /** Puts the payment into a job that pays the recipient it names, as a relayer does before it sends it. */
  const putIntoJob = async (payment: SignedPayment): Promise<void> => {
    const terms = { ...createRequest(payment).terms, payTo: recipientOf(payment) };
    const name = nameSettlement(terms, payment, signedAmountOf(payment));
    await new SettlementRecords(parts().redis).claim([{ name, questionId: 'question', keptMs: 60_000 }], 'job');
  };
  /** A journal in which the job was mined in this transaction. */
  const journalOf = async (state: JobState, hash: Hex): Promise<Pick<Journal, 'readJob'>> => {
    const { input: data } = (await rpc('eth_getTransactionByHash', [hash])) as { input: Hex };
    const steps = [{ data, mined: { hash }, attempts: [{ kind: 'first', hash }] }];
    return { readJob: () => Promise.resolve({ state, steps } as unknown as JobRecord) };
  };
  const settleByRelayer = async (payment: SignedPayment, state: JobState = 'FINAL') => {
    await putIntoJob(payment);
    return journalOf(state, await settle(payment));
  };
  /** The same with too little gas, so that it fails on the chain. */
  const failByRelayer = async (payment: SignedPayment) => {
    await putIntoJob(payment);
    const transaction = { from: addressOf(7), ...method.call(payment), gas: numberToHex(40_000) };
    const hash = (await rpc('eth_sendTransaction', [transaction])) as Hex;
    await waitUntilMined(parts().devnet, hash);
    return { journal: await journalOf('FINAL', hash), claim: { mustBeSettled: true } } as const;
  };

  /** Signed and sent a minute ago, to a ledger that existed long before, and expired since. */
  const settleAgo = async <Settled>(by: (payment: SignedPayment) => Promise<Settled>) => {
    await ageLedger();
    await rpc('anvil_setTime', [nowS() - 60]);
    const payment = await pay({ validBefore: BigInt(nowS() - 30) });
    const settled = await by(payment);
    await rpc('anvil_setTime', [nowS()]);
    return { payment, settled };
  };

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
        expect(await ask(payment, { ...higher, journal })).toEqual(INCONSISTENT);
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

  describe(`a payment by ${method.name} whose transaction is in a block that the RPC server has not seen`, () => {
    /** From now on the server has only the state before. */
    const settleUnseen = async (payment: SignedPayment) => {
      const headBlockNumber = (await rpc('eth_blockNumber')) as Hex;
      const journal = await settleByRelayer(payment);
      parts().rpc.fail({ kind: 'lag', headBlockNumber });
      return journal;
    };
    const must = { claim: { mustBeSettled: true } } as const;

    // Prevents: a relayer's transaction was late, the payer asks again at the expiry, signs another payment, and pays
    // twice.
    it('is not refused because it has expired since', async () => {
      const { payment, settled: journal } = await settleAgo(settleUnseen);
      expect(await ask(payment, { journal })).toEqual(INCONSISTENT);
      parts().rpc.fail(undefined);
      expect(await ask(payment, { journal })).toMatchObject({ outcome: 'claimed' });
    });

    it('is not refused for its expiry while a relayer has it in a job', async () => {
      const payment = await pay({ validBefore: BigInt(nowS() - 1) });
      expect(await ask(payment)).toEqual(refused('authorization_expired'));
      await putIntoJob(payment);
      const steps = [{ mined: null, attempts: [{ hash: random(32) }] }];
      const readJob = () => Promise.resolve({ state: 'BROADCAST', steps } as unknown as JobRecord);
      expect(await ask(payment, { journal: { readJob } })).toMatchObject({ outcome: 'busy' });
    });

    it('is not refused as one that is not settled yet', async () => {
      const payment = await pay();
      const journal = await settleUnseen(payment);
      expect(await ask(payment, { journal, ...must })).toEqual(INCONSISTENT);
      parts().rpc.fail(undefined);
      expect(await ask(payment, { journal, ...must })).toMatchObject({ outcome: 'claimed' });
    });

    it('is not refused for its releases before it is known to be owed', async () => {
      const payment = await pay();
      for (let times = 0; times < 5; times++) {
        await parts().ledger.release(leaseOf(await ask(payment)), { counted: true });
      }
      const journal = await settleUnseen(payment);
      expect(await ask(payment, { journal })).toEqual(INCONSISTENT);
      expect(await recordOf(payment)).toBeUndefined();
      parts().rpc.fail(undefined);
      expect(await ask(payment, { journal })).toEqual(refused('released_too_often'));
      const facts = { failure: 'released_too_often', amountBaseUnits: String(PRICE) };
      expect(await recordOf(payment)).toMatchObject(facts);
    });

    it('is refused if the transaction did not settle it', async () => {
      const payment = await pay();
      expect(await ask(payment, await failByRelayer(payment))).toEqual(refused('unknown_reference'));
    });

    if (method.isBatched) {
      // Prevents: each refusal of one that was left out of a batch reads the receipt of all the others.
      it('is refused without a look at a transaction that it was left out of', async () => {
        const payment = await pay();
        await putIntoJob(payment);
        const others = await settle(await pay());
        const journal = await journalOf('FINAL', others);
        expect(await ask(payment, { journal, ...must })).toEqual(refused('unknown_reference'));
        expect(parts().rpc.receiptsOf).not.toContain(others);
      });
    }

    // Prevents: one whose server refuses calls at a block's number is never refused, and its payer never signs anew.
    it('is refused once no server can lag that far behind', async () => {
      const payment = await pay();
      const failed = await failByRelayer(payment);
      parts().rpc.fail(REFUSED_NUMBERS);
      expect(await ask(payment, failed)).toEqual({ outcome: 'unavailable', reason: 'rpc_error' });
      // Blocks of a chain that mines several a second: a server can lag that many behind, but not for a minute.
      await rpc('anvil_mine', ['0x40', '0x0']);
      expect(await ask(payment, failed)).toEqual({ outcome: 'unavailable', reason: 'rpc_error' });
      await rpc('anvil_mine', ['0x2', '0x3c']);
      expect(await ask(payment, failed)).toEqual(refused('unknown_reference'));
    });
  });

  describe(`a settled payment by ${method.name} to another recipient than the requested one`, () => {
    const mismatch = () => refused('recipient_mismatch');

    // Prevents: PAY_TO changes, and what a relayer has moved to the earlier one is paid again.
    it('is refused, and recorded for a refund if a relayer has sent it', async () => {
      const payment = await pay({ to: addressOf(3) });
      const journal = await settleByRelayer(payment);
      expect(await ask(payment, { journal })).toEqual(mismatch());
      const facts = { failure: 'recipient_mismatch', amountBaseUnits: String(PRICE) };
      expect(await recordOf(payment)).toMatchObject(facts);
    });

    it('is not refused while a relayer has it in a job', async () => {
      const payment = await pay({ to: addressOf(3) });
      const journal = await settleByRelayer(payment, 'BROADCAST');
      expect(await ask(payment, { journal })).toMatchObject({ outcome: 'busy' });
    });

    it('is refused without a record if its payer paid somebody else', async () => {
      const payment = await pay({ to: addressOf(3) });
      await settle(payment);
      expect(await ask(payment)).toEqual(mismatch());
      expect(await recordOf(payment)).toBeUndefined();
    });
  });

  describe(`a settled payment by ${method.name} of a contract wallet that no longer accepts its signature`, () => {
    const setCode = (wallet: Hex, code: string) => rpc('anvil_setCode', [wallet, code]);
    const createWallet = async (): Promise<Hex> => {
      const wallet = random(20);
      await transferTokens(parts().devnet, { to: wallet, amountBaseUnits: 10n * PRICE });
      await method.prepareWallet?.(wallet);
      await setCode(wallet, WILLING);
      return wallet;
    };
    const signAs = async (from: Hex) => ({ ...(await pay({ from })), signature: random(97) });

    // Prevents: a session key ends with the payment that it signed, and the payer pays again.
    it.each([
      ['has other code', UNWILLING],
      ['is an account without code again (EIP-7702)', '0x'],
    ])('is served if the wallet %s', async (_, code) => {
      const wallet = await createWallet();
      const payment = await signAs(wallet);
      const settled = { payer: wallet, txHash: await settle(payment), amountBaseUnits: String(PRICE) };
      await setCode(wallet, code);
      expect(await ask(payment, { claim: null })).toEqual({ outcome: 'valid', ...settled });
      // The wallet's answer is remembered for a moment: it is not asked again.
      expect(await ask(payment)).toMatchObject({ outcome: 'claimed', ...settled });
      expect(await ask(payment)).toMatchObject({ outcome: 'busy' });
      expect(await recordOf(payment)).toBeUndefined();
    });

    it('is served if it was settled just after the wallet was asked', async () => {
      const wallet = await createWallet();
      const payment = await signAs(wallet);
      await setCode(wallet, UNWILLING);
      expect(await ask(payment)).toEqual(refused('signature_invalid', wallet));
      await setCode(wallet, WILLING);
      const txHash = await settle(payment);
      await setCode(wallet, UNWILLING);
      expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash });
    });

    it('is refused if another signature is shown, and recorded if a request had shown a right one', async () => {
      const wallet = await createWallet();
      const [unknown, claimed] = [await signAs(wallet), await signAs(wallet)];
      expect(await abandon(claimed)).toMatchObject({ outcome: 'claimed' });
      for (const payment of [unknown, claimed]) await settle(payment);
      await setCode(wallet, UNWILLING);
      for (const payment of [unknown, claimed]) {
        expect(await ask({ ...payment, signature: random(97) })).toEqual(refused('signature_invalid', wallet));
      }
      expect(await recordOf(unknown)).toBeUndefined();
      const facts = { failure: 'signature_invalid', amountBaseUnits: String(PRICE) };
      expect(await recordOf(claimed)).toMatchObject(facts);
    });
  });
}
