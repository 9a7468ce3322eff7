import type { Hex } from 'viem';

import type { Devnet } from '../../../devnet/chain.js';
import { readBalance } from '../../../devnet/read-balance.js';

export interface MoneyMoved {
  /** What each lost or won, in base units. */
  payer: bigint;
  payTo: bigint;
}

/** Does the work, and tells what it moved on the chain. */
export async function watchMoney<Result>(
  chain: Devnet,
  { payer, payTo = chain.payTo }: { payer: Hex; payTo?: Hex },
  work: () => Promise<Result>,
): Promise<{ result: Result; moved: MoneyMoved }> {
  const read = () => Promise.all([readBalance(chain, payer), readBalance(chain, payTo)]);
  const [payerBefore, payToBefore] = await read();
  const result = await work();
  const [payerAfter, payToAfter] = await read();
  return { result, moved: { payer: payerAfter - payerBefore, payTo: payToAfter - payToBefore } };
}
