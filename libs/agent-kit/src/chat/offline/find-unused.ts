import type { Amount } from './atom.js';
import type { Intent } from './intent.js';
import { PERP_BASES } from './lexicon/assets.js';
import type { Phrase } from './read-phrases.js';

// Tokens that an operation is about without an input for them.
const IMPLIED_TOKENS: Readonly<Record<string, readonly string[]>> = {
  stake: ['0x0', 'stSEI'],
  unstake: ['0x0', 'stSEI'],
  claimUnstaked: ['0x0', 'stSEI'],
  perpsDeposit: ['USDC'],
  perpsWithdraw: ['USDC'],
  perpsOpenPosition: ['USDC'],
  perpsClosePosition: ['USDC'],
  payForResource: ['USDC'],
};
// A position's number says which tokens are meant.
const NAMED_BY_NUMBER = new Set(['removeLiquidity', 'transferERC721', 'mintERC721']);

const isAll = (amount: Amount): boolean =>
  amount.kind === 'share' && amount.share.numerator === amount.share.denominator;

function usesAmount(amount: Amount, { operation, input, shares }: Intent, values: ReadonlySet<string>): boolean {
  if (amount.kind === 'bad') return false;
  if (amount.kind === 'exact') return values.has(amount.text);
  const { numerator, denominator } = amount.share;
  const isShared = Object.values(shares).some(
    (share) => share.numerator * denominator === numerator * share.denominator,
  );
  if (isShared || input.percent === Number((numerator * 100n) / denominator)) return true;
  // All of it is what these do when nothing is said.
  return isAll(amount) && (input.amount === 'MAX' || /^(?:perpsClose|claim|approve|removeLiq)/.test(operation));
}

function usesAsset(asset: string, { operation, input }: Intent, values: ReadonlySet<string>): boolean {
  if (values.has(asset.toLowerCase()) || (asset === '0x0' && values.has('sei'))) return true;
  if (NAMED_BY_NUMBER.has(operation) || IMPLIED_TOKENS[operation]?.includes(asset)) return true;
  return input.product !== undefined && `${PERP_BASES[asset] ?? asset}-PERP` === input.product;
}

/** "Borrow less than 5" is no order for 5; prices and allowances are bounds. */
const isBound = ({ preposition }: Phrase, { operation }: Intent): boolean =>
  preposition === 'atMost' && !['payForResource', 'approve'].includes(operation);

const show = (amount: Amount): string =>
  amount.kind === 'share' ? (amount.percent ? `${amount.percent}%` : 'a part of it') : amount.text;

/** What a clause says of amounts, tokens and addresses that found no place in the inputs: it must not be dropped silently. */
export function findUnused(intent: Intent, phrases: readonly Phrase[]): string[] {
  if (intent.problems.length > 0) return [];
  const values = new Set(Object.values(intent.input).map((value) => String(value).toLowerCase()));
  return phrases.flatMap((phrase) => {
    const { amount, asset, address, url, id, leverage, bps, badHex } = phrase;
    const texts = [address, url, id, leverage, bps, badHex].filter((text) => text !== null);
    const said = [
      ...texts.filter((text) => !values.has(text.toLowerCase())),
      ...(amount && (isBound(phrase, intent) || !usesAmount(amount, intent, values)) ? [show(amount)] : []),
    ];
    const token = asset !== null && !usesAsset(asset, intent, values) ? [asset === '0x0' ? 'SEI' : asset] : [];
    return said.length + token.length > 0
      ? [[phrase.preposition?.replace('atMost', 'at most') ?? '', ...said, ...token].join(' ').trim()]
      : [];
  });
}
