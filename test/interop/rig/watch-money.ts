import type { Hex } from 'viem';

import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { readBalance } from '../../../tools/devnet/chain/read-balance.js';

export interface MoneyMoved {
  /** The change of each balance, in base units. */
  payer: bigint;
  payTo: bigint;
}

export interface Watched<Result> {
  result: Result;
  moved: MoneyMoved;
}

/** Runs the work, and returns what it moved on the chain. */
export async function watchMoney<Result>(
  chain: Devnet,
  { payer, payTo = chain.payTo }: { payer: Hex; payTo?: Hex },
  work: () => Promise<Result>,
): Promise<Watched<Result>> {
  const read = () => Promise.all([readBalance(chain, payer), readBalance(chain, payTo)]);
  const [payerBefore, payToBefore] = await read();
  const result = await work();
  const [payerAfter, payToAfter] = await read();
  return { result, moved: { payer: payerAfter - payerBefore, payTo: payToAfter - payToBefore } };
}
