import { randomBytes } from 'node:crypto';

import type { JobRecord } from '@tollgate/journal';
import type { Hex, SignedPayment } from '@tollgate/protocol';

import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { REFUSED_NUMBERS } from '../../../chain/test/rpc-stand-in.js';
import { PRICE } from '../use-signed-payment-verifier.js';
import { accountOf, leaseOf, type SignedMethod, type Verifiers } from './payment-method.js';
import { createSignedRows, putIntoJob } from './signed-rows.js';

/** Answers any signature with the magic value of EIP-1271. */
const WILLING = '0x631626ba7e60e01b60005260206000f3';
const UNWILLING = '0x60006000f3';
const INCONSISTENT = { outcome: 'unavailable', reason: 'rpc_inconsistent' };

/** The rows of a signature that is refused now, although its money has moved or may have. */
export function describeReviewedPayments(method: SignedMethod, verifiers: Verifiers): void {
  const { abandon, ask, parts } = verifiers;
  const { pay, settle } = method;
  const rows = createSignedRows(method, verifiers);
  const { rpc, refused, recordOf, journalOf, settleByRelayer, failByRelayer, settleAgo } = rows;
  const elsewhere = () => accountOf(parts().devnet, 3).address;
  const random = (bytes: number): Hex => `0x${randomBytes(bytes).toString('hex')}`;

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
      const payment = await pay({ validBefore: BigInt(Math.floor(Date.now() / 1000) - 1) });
      expect(await ask(payment)).toEqual(refused('authorization_expired'));
      await putIntoJob(verifiers, payment);
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
        await putIntoJob(verifiers, payment);
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
      const payment = await pay({ to: elsewhere() });
      const journal = await settleByRelayer(payment);
      expect(await ask(payment, { journal })).toEqual(mismatch());
      const facts = { failure: 'recipient_mismatch', payTo: elsewhere().toLowerCase(), amountBaseUnits: String(PRICE) };
      expect(await recordOf(payment)).toMatchObject(facts);
    });

    it('is not refused while a relayer has it in a job', async () => {
      const payment = await pay({ to: elsewhere() });
      const journal = await settleByRelayer(payment, 'BROADCAST');
      expect(await ask(payment, { journal })).toMatchObject({ outcome: 'busy' });
    });

    it('is refused without a record if its payer paid somebody else', async () => {
      const payment = await pay({ to: elsewhere() });
      await settle(payment);
      expect(await ask(payment)).toEqual(mismatch());
      expect(await recordOf(payment)).toBeUndefined();
    });
  });

  describe(`a settled payment by ${method.name} of a contract wallet that no longer accepts its signature`, () => {
    const setCode = (wallet: Hex, code: string) => rpc('anvil_setCode', [wallet, code]);
    /** With the balance for its payments, and nothing left after them. */
    const createWallet = async (payments = 1n): Promise<Hex> => {
      const wallet = random(20);
      await transferTokens(parts().devnet, { to: wallet, amountBaseUnits: payments * PRICE });
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
      const wallet = await createWallet(2n);
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
