import { createIntent } from './fill-slots.js';
import type { Intent } from './intent.js';

/** What takes back what was put in: `withdraw it`. */
export const OPPOSITES: Readonly<Record<string, string>> = {
  mintLending: 'redeemLending',
  perpsDeposit: 'perpsWithdraw',
  stake: 'unstake',
  addLiquidity: 'removeLiquidity',
};

const TOKEN_SLOTS = ['symbol', 'token', 'fromToken'];

/** Where a clause leaves out the token that the clause before named: `supply 10 USDC and borrow 3`. */
export function inheritToken(intent: Intent, before: Intent | null): Intent {
  const slot = TOKEN_SLOTS.find((name) => intent.missing.includes(name));
  if (slot === undefined || !before) return intent;
  const token = before.input.symbol ?? before.input.token ?? before.input.toToken;
  if (token === undefined || Object.keys(intent.shares).length > 0) return intent;
  const value = slot === 'symbol' && token === '0x0' ? 'SEI' : slot !== 'symbol' && token === 'SEI' ? '0x0' : token;
  return {
    ...intent,
    input: { ...intent.input, [slot]: value },
    missing: intent.missing.filter((name) => name !== slot),
  };
}

// What leaves the amount with the person, so that `it` may mean the same amount again.
const KEEPS_AMOUNT = new Set([
  ...['borrowLending', 'redeemLending', 'perpsWithdraw', 'mintLending', 'perpsDeposit', 'stake'],
  'repayLending',
  'transfer',
  'approve',
  'unstake',
]);

/** `it`: the token, the amount or the product of the operation before. */
export function resolvePronoun(intent: Intent, before: Intent | null): Intent {
  if (!before) return intent;
  const said = { input: { ...intent.input }, shares: { ...intent.shares }, problems: [...intent.problems] };
  const before_ = before.input;
  const token = before.operation === 'swap' ? before_.toToken : (before_.symbol ?? before_.token);
  const wanted = ['symbol', 'token', 'fromToken'].find((slot) => intent.missing.includes(slot));
  if (wanted !== undefined && token !== undefined)
    said.input[wanted] = wanted === 'symbol' && token === '0x0' ? 'SEI' : token;
  if (
    intent.operation === 'swap' &&
    before.operation === 'swap' &&
    intent.missing.includes('toToken') &&
    before_.fromToken !== undefined
  )
    said.input.toToken = before_.fromToken;
  if (intent.missing.includes('product') && before_.product !== undefined) said.input.product = before_.product;
  if (intent.missing.includes('amount')) {
    if (KEEPS_AMOUNT.has(before.operation) && before_.amount !== undefined) said.input.amount = before_.amount;
    else if (before.operation === 'swap' && before.received !== undefined) said.input.amount = before.received;
    else if (before.operation === 'swap') {
      said.shares.amount = { numerator: 1n, denominator: 1n };
      return createIntent(intent.operation, { ...said, wanted: { amount: 'received' } });
    }
  }
  return createIntent(intent.operation, said);
}
