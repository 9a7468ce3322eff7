import { randomBytes } from 'node:crypto';

import { planPermitTransfer, planTransfer, splitSignature } from '@tollgate/chain';
import type { JobRecord, JobState, Journal } from '@tollgate/journal';
import {
  type Hex,
  recipientOf,
  type SignedAuthorization,
  signedAmountOf,
  type SignedPayment,
  type SignedPermit,
} from '@tollgate/protocol';
import { nameSettlement, SettlementRecords } from '@tollgate/settlement';
import { numberToHex } from 'viem';

import { approvePermit2, signPermit, type PermitTerms } from '../../../../tools/devnet/chain/sign-permit.js';
import { sendTransaction, transferTokens, waitUntilMined } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { MULTICALL3 } from '../../../../tools/devnet/protocols/place-contracts.js';
import { changeResult, REFUSED_NUMBERS } from '../../../chain/test/rpc-stand-in.js';
import { submitAuthorization } from '../../test/sign-authorization.js';
import { PRICE, useSignedPaymentVerifier } from '../../test/use-signed-payment-verifier.js';

const { abandon, parts, payer, ask, createRequest, refusals, signPayment } = useSignedPaymentVerifier();

const addressOf = (index: number): Hex => parts().devnet.accounts[index]!.address.toLowerCase() as Hex;
const submit = (payment: SignedAuthorization) => submitAuthorization(parts().devnet, payment);
const refused = (failure: string, from = addressOf(0)) => ({ outcome: 'refused', failure, payer: from });
const nonceOf = (payment: SignedPayment) =>
  payment.kind === 'permit2' ? payment.permit2Authorization.nonce : payment.authorization.nonce;
const recordOf = async (payment: SignedPayment) =>
  (await refusals()).find((line) => line.payment?.includes(nonceOf(payment)));

/** Puts the payment into a job that pays the recipient it names, as a relayer does before it sends it. */
const putIntoJob = async (payment: SignedPayment): Promise<void> => {
  const terms = { ...createRequest(payment).terms, payTo: recipientOf(payment) };
  const name = nameSettlement(terms, payment, signedAmountOf(payment));
  await new SettlementRecords(parts().redis).claim([{ name, questionId: 'question', keptMs: 60_000 }], 'job');
};
/** A journal in which the job was mined in this transaction. */
const journalOf = async (state: JobState, hash: Hex): Promise<Pick<Journal, 'readJob'>> => {
  const { input: data } = (await callRpc(parts().devnet.rpcUrl, 'eth_getTransactionByHash', [hash])) as { input: Hex };
  const steps = [{ data, mined: { hash }, attempts: [{ kind: 'first', hash }] }];
  return { readJob: () => Promise.resolve({ state, steps } as unknown as JobRecord) };
};
/** Sends the payment with too little gas, so that it fails on the chain. */
const fail = async (payment: SignedPayment): Promise<Hex> => {
  const { devnet } = parts();
  const places = { asset: devnet.asset, multicall3: MULTICALL3, isDeployed: true };
  const call =
    payment.kind === 'permit2'
      ? planPermitTransfer(payment, PRICE)
      : planTransfer(payment.authorization, splitSignature(payment.signature)!, places);
  const transaction = { from: addressOf(7), ...call, gas: numberToHex(40_000) };
  const hash = (await callRpc(devnet.rpcUrl, 'eth_sendTransaction', [transaction])) as Hex;
  await waitUntilMined(devnet, hash);
  return hash;
};

// A ledger that existed long before the payments.
beforeAll(async () => {
  const { redis } = parts();
  for (const key of await redis.keys('*:birth:*')) await redis.hset(key, { at: 1, block: 0 });
});

describe('a settled payment whose price has changed since', () => {
  const higher = { terms: { priceBaseUnits: String(PRICE + 1n) } };

  // Prevents: the payer is asked to sign anew, is charged twice, and nothing is on record.
  it('is refused, and recorded for a refund with the amount that was moved', async () => {
    const payment = await signPayment();
    await abandon(payment);
    await submit(payment);
    expect(await ask(payment, higher)).toEqual(refused('amount_mismatch'));
    const amountBaseUnits = String(PRICE);
    expect(await recordOf(payment)).toMatchObject({ failure: 'amount_mismatch', payer: addressOf(0), amountBaseUnits });
    expect((await recordOf(payment))?.detail).toBeUndefined();
  });

  it('is refused without a record if it has bought an answer', async () => {
    const payment = await signPayment();
    await submit(payment);
    const claimed = await ask(payment);
    if (claimed.outcome !== 'claimed') throw new Error(claimed.outcome);
    expect(await ask(payment, higher)).toMatchObject({ outcome: 'busy' });
    await parts().ledger.commit(claimed.lease, null);
    expect(await ask(payment, higher)).toEqual(refused('amount_mismatch'));
    expect(await recordOf(payment)).toBeUndefined();
  });

  it('is refused without a record if the nonce went into another payment', async () => {
    const payment = await signPayment();
    await submit(await signPayment({ nonce: payment.authorization.nonce, value: '5' }));
    expect(await ask(payment, higher)).toEqual(refused('amount_mismatch'));
    expect(await recordOf(payment)).toBeUndefined();
  });

  it('is not refused before its settlement is confirmed', async () => {
    const payment = await signPayment();
    await submit(payment);
    expect(await ask(payment, { ...higher, rules: { confirmations: 3 } })).toMatchObject({
      outcome: 'unavailable',
      reason: 'not_confirmed',
    });
    expect(await recordOf(payment)).toBeUndefined();
  });

  // Prevents: a lagging server says that the nonce is free, or a reorganisation has freed it for a moment.
  it('is not refused while the server does not show the transaction that the relayer has seen mined', async () => {
    const payment = await signPayment();
    await putIntoJob(payment);
    const journal = await journalOf('FINAL', await submit(payment));
    parts().rpc.fail(changeResult('eth_getTransactionReceipt', () => null));
    expect(await ask(payment, { ...higher, journal })).toEqual({ outcome: 'unavailable', reason: 'rpc_inconsistent' });
    parts().rpc.fail(changeResult('eth_getLogs', () => []));
    expect(await ask(payment, { ...higher, journal })).toEqual({ outcome: 'unavailable', reason: 'rpc_inconsistent' });
    expect(await recordOf(payment)).toBeUndefined();
  });

  it('is recorded if its job is forgotten and the server shows no log of it', async () => {
    const payment = await signPayment();
    await putIntoJob(payment);
    await submit(payment);
    parts().rpc.fail(changeResult('eth_getLogs', () => []));
    const readJob = jest.fn<ReturnType<Journal['readJob']>, []>().mockResolvedValue(null);
    readJob.mockResolvedValueOnce({ state: 'FINAL', steps: [] } as unknown as JobRecord);
    expect(await ask(payment, { ...higher, journal: { readJob } })).toEqual(refused('amount_mismatch'));
    const detail = expect.stringContaining('a relayer may have sent it') as string;
    expect(await recordOf(payment)).toMatchObject({ amountBaseUnits: String(PRICE), detail });
  });
});

describe('a payment whose transaction is in a block that the RPC server has not seen', () => {
  const MINUTE_S = 60;
  const nowS = () => Math.floor(Date.now() / 1000);
  const setTime = (seconds: number) => callRpc(parts().devnet.rpcUrl, 'anvil_setTime', [seconds]);
  const unavailable = { outcome: 'unavailable', reason: 'rpc_inconsistent' };
  const sendPermit = (payment: SignedPermit) => sendTransaction(parts().devnet, planPermitTransfer(payment, PRICE));

  /** As a relayer settles it; from then on the server has only the state before. */
  async function settleUnseen<Payment extends SignedPayment>(payment: Payment, send: (sent: Payment) => Promise<Hex>) {
    await putIntoJob(payment);
    const headBlockNumber = (await callRpc(parts().devnet.rpcUrl, 'eth_blockNumber')) as Hex;
    const journal = await journalOf('FINAL', await send(payment));
    parts().rpc.fail({ kind: 'lag', headBlockNumber });
    return journal;
  }

  beforeAll(() => approvePermit2(parts().devnet, { owner: payer().address }));

  // Prevents: a relayer's transaction was late, the payer asks again at the expiry, signs another payment, and pays twice.
  it('is not refused because it has expired since', async () => {
    await setTime(nowS() - MINUTE_S);
    const validBefore = nowS() - MINUTE_S / 2;
    const payment = await signPayment({ validBefore: String(validBefore) });
    const journal = await settleUnseen(payment, submit);
    expect(await ask(payment, { journal })).toEqual(unavailable);
    parts().rpc.fail(undefined);
    const permit = await signPermit(parts().devnet, payer(), { amountBaseUnits: PRICE, deadline: BigInt(validBefore) });
    const journalOfPermit = await settleUnseen(permit, sendPermit);
    expect(await ask(permit, { journal: journalOfPermit })).toEqual(unavailable);
    parts().rpc.fail(undefined);
    await setTime(nowS());
    expect(await ask(payment, { journal })).toMatchObject({ outcome: 'claimed' });
    expect(await ask(permit, { journal: journalOfPermit })).toMatchObject({ outcome: 'claimed' });
  });

  it('is not refused as one that is not settled yet', async () => {
    const payment = await signPayment();
    const journal = await settleUnseen(payment, submit);
    expect(await ask(payment, { journal, claim: { mustBeSettled: true } })).toEqual(unavailable);
    parts().rpc.fail(undefined);
    expect(await ask(payment, { journal, claim: { mustBeSettled: true } })).toMatchObject({ outcome: 'claimed' });
  });

  it('is not refused for its releases before it is known to be owed', async () => {
    const payment = await signPayment();
    for (let times = 0; times < 5; times++) {
      const claimed = await ask(payment);
      if (claimed.outcome !== 'claimed') throw new Error(claimed.outcome);
      await parts().ledger.release(claimed.lease, { counted: true });
    }
    const journal = await settleUnseen(payment, submit);
    expect(await ask(payment, { journal })).toEqual(unavailable);
    expect(await recordOf(payment)).toBeUndefined();
    parts().rpc.fail(undefined);
    expect(await ask(payment, { journal })).toEqual(refused('released_too_often'));
    expect(await recordOf(payment)).toMatchObject({ failure: 'released_too_often', amountBaseUnits: String(PRICE) });
  });

  it('is refused if the transaction did not settle it', async () => {
    const permit = await signPermit(parts().devnet, payer(), { amountBaseUnits: PRICE });
    for (const payment of [await signPayment(), permit]) {
      await putIntoJob(payment);
      const must = { journal: await journalOf('FINAL', await fail(payment)), claim: { mustBeSettled: true } } as const;
      expect(await ask(payment, must)).toEqual(refused('unknown_reference'));
    }
  });

  // Prevents: each refusal of one that was left out of a batch reads the receipt of all the others.
  it('is refused without a look at a transaction that it was left out of', async () => {
    const payment = await signPayment();
    await putIntoJob(payment);
    const others = await submit(await signPayment());
    const must = { journal: await journalOf('FINAL', others), claim: { mustBeSettled: true } } as const;
    expect(await ask(payment, must)).toEqual(refused('unknown_reference'));
    expect(parts().rpc.receiptsOf).not.toContain(others);
  });

  // Prevents: one whose server refuses calls at a block's number is never refused, and its payer never signs anew.
  it('is refused once no server can lag that far behind', async () => {
    const payment = await signPayment();
    await putIntoJob(payment);
    const must = { journal: await journalOf('FINAL', await fail(payment)), claim: { mustBeSettled: true } } as const;
    parts().rpc.fail(REFUSED_NUMBERS);
    expect(await ask(payment, must)).toEqual({ outcome: 'unavailable', reason: 'rpc_error' });
    // Blocks of a chain that mines several a second: a server can lag that many behind, but not for a minute.
    await callRpc(parts().devnet.rpcUrl, 'anvil_mine', ['0x40', '0x0']);
    expect(await ask(payment, must)).toEqual({ outcome: 'unavailable', reason: 'rpc_error' });
    await callRpc(parts().devnet.rpcUrl, 'anvil_mine', ['0x2', '0x3c']);
    expect(await ask(payment, must)).toEqual(refused('unknown_reference'));
  });
});

describe('a settled payment to another recipient than the requested one', () => {
  const sign = () => signPayment({ to: addressOf(3) });

  // Prevents: PAY_TO changes, and what a relayer has moved to the earlier one is paid again.
  it('is refused, and recorded for a refund if a relayer has sent it', async () => {
    const payment = await sign();
    await putIntoJob(payment);
    const journal = await journalOf('FINAL', await submit(payment));
    expect(await ask(payment, { journal })).toEqual(refused('recipient_mismatch'));
    expect(await recordOf(payment)).toMatchObject({ failure: 'recipient_mismatch', amountBaseUnits: String(PRICE) });
  });

  it('is not refused while a relayer has it in a job', async () => {
    const payment = await sign();
    await putIntoJob(payment);
    const journal = await journalOf('BROADCAST', await submit(payment));
    expect(await ask(payment, { journal })).toMatchObject({ outcome: 'busy' });
  });

  it('is refused without a record if its payer paid somebody else', async () => {
    const payment = await sign();
    await submit(payment);
    expect(await ask(payment)).toEqual(refused('recipient_mismatch'));
    expect(await recordOf(payment)).toBeUndefined();
  });
});

describe('a settled payment of a contract wallet that no longer accepts its signature', () => {
  /** Answers any signature with the magic value of EIP-1271. */
  const WILLING = '0x631626ba7e60e01b60005260206000f3';
  const UNWILLING = '0x60006000f3';
  const random = (bytes: number): Hex => `0x${randomBytes(bytes).toString('hex')}`;
  const setCode = (wallet: Hex, code: string) => callRpc(parts().devnet.rpcUrl, 'anvil_setCode', [wallet, code]);
  const createWallet = async (): Promise<Hex> => {
    const wallet = random(20);
    await setCode(wallet, WILLING);
    await transferTokens(parts().devnet, { to: wallet, amountBaseUnits: 10n * PRICE });
    return wallet;
  };
  const signAs = async (from: Hex): Promise<SignedAuthorization> => ({
    ...(await signPayment({ from })),
    signature: random(97),
  });

  // Prevents: a session key ends with the payment that it signed, and the payer pays again.
  it.each([
    ['has other code', UNWILLING],
    ['is an account without code again (EIP-7702)', '0x'],
  ])('is served if the wallet %s', async (_, code) => {
    const wallet = await createWallet();
    const payment = await signAs(wallet);
    const txHash = await submit(payment);
    await setCode(wallet, code);
    const settled = { payer: wallet, txHash, amountBaseUnits: String(PRICE) };
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
    const txHash = await submit(payment);
    await setCode(wallet, UNWILLING);
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash });
  });

  it('is served by a permit too', async () => {
    const wallet = await createWallet();
    await callRpc(parts().devnet.rpcUrl, 'anvil_setBalance', [wallet, '0xde0b6b3a7640000']);
    await callRpc(parts().devnet.rpcUrl, 'anvil_impersonateAccount', [wallet]);
    // A node takes no transaction of an account with code.
    await setCode(wallet, '0x');
    await approvePermit2(parts().devnet, { owner: wallet });
    await setCode(wallet, WILLING);
    const signed = await signPermit(parts().devnet, payer(), { amountBaseUnits: PRICE, from: wallet });
    const payment = { ...signed, signature: random(97) };
    const txHash = await sendTransaction(parts().devnet, planPermitTransfer(payment, PRICE));
    await setCode(wallet, UNWILLING);
    expect(await ask({ ...payment, signature: random(97) })).toEqual(refused('signature_invalid', wallet));
    expect(await ask(payment)).toMatchObject({ outcome: 'claimed', txHash, amountBaseUnits: String(PRICE) });
  });

  it('is refused if another signature is shown, and recorded if a request had shown a right one', async () => {
    const wallet = await createWallet();
    const [unknown, claimed] = [await signAs(wallet), await signAs(wallet)];
    expect(await abandon(claimed)).toMatchObject({ outcome: 'claimed' });
    for (const payment of [unknown, claimed]) await submit(payment);
    await setCode(wallet, UNWILLING);
    for (const payment of [unknown, claimed]) {
      expect(await ask({ ...payment, signature: random(97) })).toEqual(refused('signature_invalid', wallet));
    }
    expect(await recordOf(unknown)).toBeUndefined();
    expect(await recordOf(claimed)).toMatchObject({ failure: 'signature_invalid', amountBaseUnits: String(PRICE) });
  });
});

describe('a settled permit that is refused for its terms', () => {
  beforeAll(() => approvePermit2(parts().devnet, { owner: payer().address }));

  const facilitator = (): Hex => addressOf(6);
  it.each<[string, Partial<PermitTerms>, bigint, bigint]>([
    ['amount_mismatch', {}, PRICE, PRICE + 1n],
    ['amount_too_low', { facilitator: '0x' }, 7n, PRICE + 1n],
    ['facilitator_mismatch', { facilitator: '0x' }, 7n, PRICE],
  ])('is recorded for a refund with the amount that was moved: %s', async (failure, terms, moved, price) => {
    const named = 'facilitator' in terms ? { facilitator: facilitator() } : {};
    const payment: SignedPermit = await signPermit(parts().devnet, payer(), { amountBaseUnits: PRICE, ...named });
    await sendTransaction(parts().devnet, { from: facilitator(), ...planPermitTransfer(payment, moved) });
    const asked = { terms: { priceBaseUnits: String(price) } };
    expect(await ask(payment, asked)).toEqual(refused(failure));
    expect(await recordOf(payment)).toMatchObject({ failure, amountBaseUnits: String(moved) });
  });
});
