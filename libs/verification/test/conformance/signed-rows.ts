import type { JobRecord, JobState, Journal } from '@tollgate/journal';
import { type Hex, type PaymentFailure, recipientOf, signedAmountOf, type SignedPayment } from '@tollgate/protocol';
import { nameSettlement, SettlementRecords } from '@tollgate/settlement';
import { numberToHex } from 'viem';

import { waitUntilMined } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { accountOf, type SignedMethod, type Verifiers } from './payment-method.js';

/** Puts the payment into a job that pays the recipient it names, as a relayer does before it sends it. */
export async function putIntoJob(
  { parts, createRequest }: Pick<Verifiers, 'parts' | 'createRequest'>,
  payment: SignedPayment,
): Promise<void> {
  const terms = { ...createRequest(payment).terms, payTo: recipientOf(payment) };
  const name = nameSettlement(terms, payment, signedAmountOf(payment));
  await new SettlementRecords(parts().redis).claim([{ name, questionId: 'question', keptMs: 60_000 }], 'job');
}

/** What the rows of signed payments ask, and what a relayer does with a payment, and the journal that it leaves. */
export function createSignedRows(method: SignedMethod, verifiers: Verifiers) {
  const { ageLedger, parts, payer, refusals } = verifiers;
  const rpc = (name: string, params: unknown[] = []) => callRpc(parts().devnet.rpcUrl, name, params);
  const own = () => payer().address.toLowerCase() as Hex;
  const refused = (failure: PaymentFailure, from = own()) => ({ outcome: 'refused', failure, payer: from });
  const recordOf = async (payment: SignedPayment) =>
    (await refusals()).find((line) => line.payment?.includes(method.nameOf(payment)));
  const nowS = () => Math.floor(Date.now() / 1000);

  /** A journal in which the job was mined in this transaction. */
  const journalOf = async (state: JobState, hash: Hex): Promise<Pick<Journal, 'readJob'>> => {
    const { input: data } = (await rpc('eth_getTransactionByHash', [hash])) as { input: Hex };
    const steps = [{ data, mined: { hash }, attempts: [{ kind: 'first', hash }] }];
    return { readJob: () => Promise.resolve({ state, steps } as unknown as JobRecord) };
  };
  const settleByRelayer = async (payment: SignedPayment, state: JobState = 'FINAL') => {
    await putIntoJob(verifiers, payment);
    return journalOf(state, await method.settle(payment));
  };
  /** The same with too little gas, so that it fails on the chain. */
  const failByRelayer = async (payment: SignedPayment) => {
    const { devnet } = parts();
    await putIntoJob(verifiers, payment);
    const transaction = { from: accountOf(devnet, 7).address, ...method.call(payment), gas: numberToHex(40_000) };
    const hash = (await rpc('eth_sendTransaction', [transaction])) as Hex;
    await waitUntilMined(devnet, hash);
    return { journal: await journalOf('FINAL', hash), claim: { mustBeSettled: true } } as const;
  };
  /** Signed and sent a minute ago, to a ledger that existed long before, and expired since. */
  const settleAgo = async <Settled>(by: (payment: SignedPayment) => Promise<Settled>) => {
    await ageLedger();
    await rpc('anvil_setTime', [nowS() - 60]);
    const payment = await method.pay({ validBefore: BigInt(nowS() - 30) });
    const settled = await by(payment);
    await rpc('anvil_setTime', [nowS()]);
    return { payment, settled };
  };
  return { rpc, own, refused, recordOf, journalOf, settleByRelayer, failByRelayer, settleAgo };
}
