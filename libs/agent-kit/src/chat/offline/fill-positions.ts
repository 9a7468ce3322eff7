import { MAX_LEVERAGE } from '@tollgate/protocol';

import { PERP_BASES } from './lexicon/assets.js';
import type { Phrase } from './read-phrases.js';
import { findAmount, putAmount, type Slots } from './slots.js';

function fillAdd(slots: Slots, phrases: readonly Phrase[]): void {
  const fee = phrases.find(
    ({ amount, asset, nouns }) =>
      amount?.kind === 'share' &&
      amount.percent !== null &&
      asset === null &&
      nouns.some((noun) => noun === 'fee' || noun === 'liquidity'),
  );
  if (fee?.amount?.kind === 'share') {
    slots.input.fee = Number((fee.amount.share.numerator * 1_000_000n) / fee.amount.share.denominator);
    fee.amount = null;
  }
  const sides = phrases.filter(({ asset, address }) => asset !== null || address !== null).slice(0, 2);
  for (const [index, side] of sides.entries()) {
    const letter = index === 0 ? 'A' : 'B';
    const token = side.asset ?? side.address;
    if (token !== null) slots.input[`token${letter}`] = token;
    if (side.amount) putAmount(slots, `amount${letter}`, side.amount);
  }
  if (sides.every(({ amount }) => amount === null)) {
    const loose = phrases.filter(({ amount }) => amount !== null).slice(0, 2);
    for (const [index, { amount }] of loose.entries())
      if (amount) putAmount(slots, index === 0 ? 'amountA' : 'amountB', amount);
  }
}

function fillRemove(slots: Slots, phrases: readonly Phrase[]): void {
  const id = phrases.find((phrase) => phrase.id !== null)?.id;
  if (id != null) slots.input.positionId = id;
  const tokens = phrases.flatMap(({ asset }) => (asset === null ? [] : [asset === '0x0' ? 'WSEI' : asset]));
  if (tokens.length > 0) slots.wanted = { tokens: tokens.join(' ') };
  const amount = findAmount(phrases);
  if (amount?.kind === 'share') {
    const percent = (amount.share.numerator * 100n) / amount.share.denominator;
    if (percent * amount.share.denominator === amount.share.numerator * 100n) slots.input.percent = Number(percent);
    else slots.problems.push('Liquidity is removed in whole percent');
  } else if (amount?.kind === 'exact' && id == null && /^\d+$/.test(amount.text)) slots.input.positionId = amount.text;
  else if (amount)
    slots.problems.push('Liquidity is removed in percent of a position, for example "remove 50% of position 3"');
}

export function fillLiquidity(slots: Slots, phrases: readonly Phrase[], operation: string): void {
  if (operation === 'addLiquidity') fillAdd(slots, phrases);
  else fillRemove(slots, phrases);
}

function readProduct(phrases: readonly Phrase[]): string | null {
  const phrase = phrases.find(({ asset, isMoney }) => asset !== null && asset !== 'USDC' && !isMoney);
  if (phrase?.asset == null) return null;
  const { asset } = phrase;
  return asset.endsWith('-PERP') ? asset : `${PERP_BASES[asset] ?? asset}-PERP`;
}

function readSide(phrases: readonly Phrase[], verbs: ReadonlySet<string>): string | null {
  const nouns = phrases.flatMap((phrase) => phrase.nouns);
  const [isLong, isShort] = [nouns.includes('long'), nouns.includes('short')];
  if (isLong !== isShort) return isLong ? 'long' : 'short';
  if (isLong && isShort) return null;
  return verbs.has('buy') ? 'long' : verbs.has('sell') ? 'short' : null;
}

export function fillPerps(
  slots: Slots,
  phrases: readonly Phrase[],
  operation: string,
  verbs: ReadonlySet<string>,
): void {
  const product = readProduct(phrases);
  if (product !== null) slots.input.product = product;
  const amounts = phrases.filter(({ amount }) => amount !== null);
  const inBase = amounts.find(({ asset }) => asset !== 'USDC');
  if (inBase?.amount && !(operation === 'perpsClosePosition' && isAll(inBase)))
    putAmount(slots, 'amount', inBase.amount);
  else if (amounts.length > 0 && !inBase)
    slots.problems.push('The amount is counted in the base asset, for example 0.01 BTC');
  const side = readSide(phrases, verbs);
  if (operation === 'perpsClosePosition') {
    if (side !== null) slots.wanted = { side };
    return;
  }
  if (side !== null) slots.input.side = side;
  const leverage = phrases.find((phrase) => phrase.leverage !== null)?.leverage;
  if (leverage == null) return;
  if (/^\d{1,3}$/.test(leverage) && Number(leverage) >= 1 && Number(leverage) <= MAX_LEVERAGE)
    slots.input.leverage = Number(leverage);
  else slots.problems.push(`The leverage goes from 1x to ${MAX_LEVERAGE}x in whole steps`);
}

const isAll = ({ amount }: Phrase): boolean =>
  amount?.kind === 'share' && amount.share.numerator === amount.share.denominator;
