import type { ApprovalScope, Spending } from './transition.js';

/**
 * The script arguments that count spendings.
 * @throws TypeError when an asset is listed twice or is not a word, or an amount is negative.
 */
export function listSpendings(spendings: readonly Spending[]): string[] {
  const assets = new Set(spendings.map(({ asset }) => asset.toLowerCase()));
  if (assets.size < spendings.length) throw new TypeError('an asset is listed twice');
  return spendings.flatMap(({ asset, amount, limit }) => {
    if (!/^\w{1,64}$/.test(asset)) throw new TypeError('an asset is an address, or a word');
    if (amount < 0n || (limit !== null && limit < 0n)) throw new TypeError('amounts must not be negative');
    return [asset.toLowerCase(), amount.toString(), limit?.toString() ?? ''];
  });
}

/** The name under which an allowance is locked. */
export function nameScope({ token, spender }: ApprovalScope): string {
  return `${token.toLowerCase()}:${spender.toLowerCase()}`;
}
