import type { Devnet } from '../../tools/devnet/chain/chain.js';
import type { LaneOptions, LaneRow } from '../lane.js';
import { sendPayments } from '../load/send-payments.js';
import { makePayments } from '../payments.js';
import { startReplayNode } from '../replay-node.js';
import { runRounds } from '../run-rounds.js';
import { startTollgate, type Tollgate, type TollgateOptions } from '../tollgate.js';
import type { KeepUntilEnd } from '../with-cleanup.js';

export interface PaidStack {
  name: string;
  options: Omit<TollgateOptions, 'chain' | 'rpcUrl'>;
}

interface PaidStacksTerms {
  /** The case's name in the table. */
  name: string;
  inFlight: number;
  /** Requests a round to each stack. */
  requests: number;
}

/** Compares stacks with the first of them. All take the same payments, since each has a ledger of its own. */
export async function measurePaidStacks(
  chain: Devnet,
  stacks: readonly PaidStack[],
  { name: caseName, inFlight, requests }: PaidStacksTerms,
  { rounds, progress }: LaneOptions,
  keep: KeepUntilEnd,
): Promise<LaneRow[]> {
  const node = keep(await startReplayNode(chain));
  const started: (Tollgate & { name: string })[] = [];
  for (const { name, options } of stacks) {
    progress(`starting ${name}`);
    started.push({ name, ...keep(await startTollgate({ chain, rpcUrl: node.url, ...options })) });
  }
  progress('mining payments');
  const count = requests * (rounds + 1);
  const payments = await makePayments(chain, { kind: 'bare', count, url: '', node: node.url });
  const send = ({ name, urls, roles }: Tollgate & { name: string }, turn: number) => {
    const ofTurn = payments.slice(turn * requests, (turn + 1) * requests);
    return sendPayments({ name, urls, roles, header: 'x-payment' }, ofTurn, inFlight);
  };
  for (const stack of started) {
    progress(`warming up ${stack.name}`);
    await send(stack, 0);
  }
  const subjects = started.map((stack) => {
    let turn = 0;
    return { name: stack.name, measure: () => send(stack, ++turn) };
  });
  return runRounds([{ name: caseName, baseline: stacks[0]?.name ?? '', subjects }], rounds, progress);
}
