import type { CallRequest } from './carry-out.js';
import type { Intent } from './intent.js';
import type { Outcome } from './read-turns.js';
import { subtractAmounts } from './share-amount.js';

const DECIMAL = /^\d{1,60}(?:\.\d{1,60})?$/;

/** "Swap 1 USDC for WSEI and supply it": the amount is what the swap before brings. */
export const takesReceived = ({ shares, wanted }: Intent): boolean =>
  shares.amount !== undefined && wanted?.amount === 'received';

/** What a swap has brought by its own account, or null. */
export function readReceived(outcome: Outcome | undefined): string | null {
  const received = outcome?.kind === 'success' ? outcome.data.received : undefined;
  return typeof received === 'string' && DECIMAL.test(received) ? received : null;
}

/** The balance of what a swap gets, or null where it cannot be read. */
export function* readHeld({ input }: Intent): Generator<CallRequest[], string | null, Outcome[]> {
  const token = input.toToken;
  const args: CallRequest['args'] = token === undefined || token === '0x0' ? {} : { contractAddress: token };
  const [outcome] = yield [{ name: 'getERC20Balance', args, saying: [] }];
  const balance = outcome?.kind === 'success' ? outcome.data.balance : undefined;
  return typeof balance === 'string' && DECIMAL.test(balance) ? balance : null;
}

/** What a swap has brought: as its result tells, or the balance after it less the balance before. Null when unknown, or nothing. */
export function* measureReceived(
  swap: Intent,
  heldBefore: string | null,
  outcome: Outcome | undefined,
): Generator<CallRequest[], string | null, Outcome[]> {
  const told = readReceived(outcome);
  if (told !== null) return told;
  const heldAfter = yield* readHeld(swap);
  return heldBefore === null || heldAfter === null ? null : subtractAmounts(heldAfter, heldBefore);
}
