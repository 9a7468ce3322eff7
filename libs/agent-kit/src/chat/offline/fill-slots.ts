import { fillLiquidity, fillPerps } from './fill-positions.js';
import { fillSwap, isBuy } from './fill-swap.js';
import type { Intent } from './intent.js';
import { OPERATIONS } from './lexicon/operations.js';
import { mergeMoney } from './merge-money.js';
import type { Phrase } from './read-phrases.js';
import { findAmount, putAmount, type Slots } from './slots.js';

export interface FillContext {
  /** Named resources that can be bought: `weather`. */
  resources: Readonly<Record<string, string>>;
  /** The operation's own verb: `buy` and `sell` turn a swap round. */
  verbs: ReadonlySet<string>;
}

// `MAX` is for the operation to resolve; elsewhere all of a balance is computed from a reading.
/** What the amount is counted in, its name last, where no token is an input. */
const FITTING_TOKENS: Readonly<Record<string, readonly string[]>> = {
  stake: ['0x0', 'SEI'],
  getStakeQuote: ['0x0', 'stSEI', 'SEI'],
  unstake: ['0x0', 'stSEI'],
  perpsDeposit: ['USDC'],
  perpsWithdraw: ['USDC'],
};

const TAKES_MAX = new Set(['redeemLending', 'repayLending']);

const findToken = (phrases: readonly Phrase[]): string | null =>
  phrases.find(({ asset }) => asset !== null)?.asset ?? null;

function putAddress(slots: Slots, slot: string, phrases: readonly Phrase[], address: string | undefined): void {
  if (address !== undefined) slots.input[slot] = address;
  const bad = phrases.find(({ badHex }) => badHex !== null)?.badHex;
  if (bad != null)
    slots.problems.push(`"${bad.slice(0, 80)}" is no address: an address is 0x and 40 hexadecimal digits`);
  const name = phrases.find(
    ({ preposition, unknown, asset }) => preposition === 'to' && unknown.length > 0 && asset === null,
  );
  if (name && address === undefined) {
    slots.problems.push(`I know no address for "${name.unknown.join(' ').slice(0, 80)}"`);
    name.unknown.length = 0;
  }
}

const addressesOf = (phrases: readonly Phrase[]): Phrase[] => phrases.filter(({ address }) => address !== null);

/** `with 0.5 % slippage`, `slippage 30 bps`. */
function putSlippage(slots: Slots, phrases: readonly Phrase[]): void {
  const at = phrases.findIndex(({ nouns }) => nouns.includes('slippage'));
  const near = at < 0 ? phrases.filter(({ bps }) => bps !== null) : [phrases[at], phrases[at + 1], phrases[at - 1]];
  for (const phrase of near) {
    if (phrase?.bps != null) {
      slots.input.slippageBps = Number(phrase.bps);
      return;
    }
    const amount = phrase?.amount;
    if (phrase && amount?.kind === 'share' && amount.percent !== null) {
      const bps = (amount.share.numerator * 10_000n) / amount.share.denominator;
      if (bps * amount.share.denominator === amount.share.numerator * 10_000n) slots.input.slippageBps = Number(bps);
      else slots.problems.push('Slippage is counted in hundredths of a percent');
      phrase.amount = null;
      return;
    }
  }
}

function fillTransfer(slots: Slots, phrases: readonly Phrase[]): void {
  const addressed = addressesOf(phrases);
  const to = addressed.find(({ preposition }) => preposition === 'to') ?? addressed[0];
  putAddress(slots, 'to', phrases, to?.address ?? undefined);
  const token = findToken(phrases) ?? addressed.find((phrase) => phrase !== to)?.address;
  if (token != null) slots.input.token = token;
}

function fillApproval(slots: Slots, phrases: readonly Phrase[], { verbs }: FillContext): void {
  const addressed = addressesOf(phrases);
  const spender = addressed.find(({ preposition }) => preposition === 'for' || preposition === 'to') ?? addressed[0];
  const token = findToken(phrases) ?? addressed.find((phrase) => phrase !== spender)?.address;
  if (token != null) slots.input.token = token;
  putAddress(slots, 'spender', phrases, spender?.address ?? undefined);
  if (['revoke', 'withdraw', 'close'].some((verb) => verbs.has(verb))) slots.input.amount = '0';
}

function fillNft(slots: Slots, phrases: readonly Phrase[], operation: string): void {
  const addressed = addressesOf(phrases);
  const to = addressed.find(({ preposition }) => preposition === 'to');
  const collection = addressed.find((phrase) => phrase !== to);
  if (collection?.address != null) slots.input.contractAddress = collection.address;
  if (operation === 'getERC721Balance') return;
  const amount = phrases.find((phrase) => phrase.amount?.kind === 'exact')?.amount;
  const id = phrases.find((phrase) => phrase.id !== null)?.id ?? (amount?.kind === 'exact' ? amount.text : null);
  if (id !== null && /^\d+$/.test(id)) slots.input.tokenId = id;
  putAddress(slots, 'to', phrases, to?.address ?? undefined);
}

function fillPayment(slots: Slots, phrases: readonly Phrase[], { resources }: FillContext): void {
  const named = Object.keys(resources).find((name) => phrases.some(({ nouns }) => nouns.includes(name)));
  const url = phrases.find((phrase) => phrase.url !== null)?.url ?? (named === undefined ? null : resources[named]);
  if (url != null) slots.input.url = url;
  const most = findAmount(phrases);
  const bound =
    phrases.find(({ preposition, amount }) => preposition === 'atMost' && amount?.kind === 'exact')?.amount ?? most;
  if (bound?.kind === 'exact') slots.input.maxAmount = bound.text;
}

function fillOne(slots: Slots, operation: string, phrases: readonly Phrase[], context: FillContext): void {
  const address = addressesOf(phrases)[0]?.address;
  const token = findToken(phrases) ?? address;
  switch (operation) {
    case 'swap':
    case 'getSwapQuote':
      fillSwap(slots, phrases, context.verbs, operation);
      return;
    case 'transfer':
      fillTransfer(slots, phrases);
      break;
    case 'approve':
      fillApproval(slots, phrases, context);
      break;
    case 'getERC20Allowance':
      fillApproval(slots, phrases, context);
      return;
    case 'transferERC721':
    case 'mintERC721':
    case 'getERC721Balance':
      fillNft(slots, phrases, operation);
      return;
    case 'payForResource':
      fillPayment(slots, phrases, context);
      return;
    case 'addLiquidity':
    case 'removeLiquidity':
      fillLiquidity(slots, phrases, operation);
      return;
    case 'perpsOpenPosition':
    case 'perpsClosePosition':
      fillPerps(slots, phrases, operation, context.verbs);
      return;
    case 'getERC20Balance':
      if (token != null && token !== '0x0') slots.input.contractAddress = token;
      return;
    case 'getTransaction': {
      const hash = phrases.find(({ badHex }) => badHex !== null)?.badHex;
      if (hash != null) slots.input.hash = hash;
      return;
    }
    case 'resolveToken':
      if (token != null) slots.input.symbol = token === '0x0' ? 'SEI' : token;
      return;
    case 'mintLending':
    case 'redeemLending':
    case 'borrowLending':
    case 'repayLending':
      if (token != null) slots.input.symbol = token === '0x0' ? 'SEI' : token;
      break;
  }
  const fitting = FITTING_TOKENS[operation];
  if (fitting && token != null && !fitting.includes(token)) {
    slots.problems.push(`That is counted in ${fitting.at(-1) ?? ''}, and not in ${token}`);
    return;
  }
  const amount = findAmount(phrases);
  if (amount && slots.input.amount === undefined && OPERATIONS[operation]?.slots.includes('amount'))
    putAmount(slots, 'amount', amount, TAKES_MAX.has(operation));
}

const isTrade = (operation: string): boolean => operation === 'swap' || operation === 'getSwapQuote';

/** The inputs of an operation that the phrases of a clause name. */
export function fillSlots(operation: string, phrases: readonly Phrase[], context: FillContext): Slots {
  const slots: Slots = { input: {}, shares: {}, problems: [] };
  if (OPERATIONS[operation]?.slots.includes('slippageBps?')) putSlippage(slots, phrases);
  const isBought = (others: readonly Phrase[]) =>
    isTrade(operation) &&
    (isBuy(context.verbs) || others.every(({ asset, address }) => asset === null && address === null));
  fillOne(slots, operation, mergeMoney(phrases, isBought), context);
  return slots;
}

/** Puts what was said over what was known before, in the order of the catalog, and lists what is still missing. */
export function createIntent(
  operation: string,
  said: Slots,
  before?: Pick<Intent, 'input' | 'shares' | 'wanted'>,
): Intent {
  const input: Intent['input'] = {};
  const shares: Intent['shares'] = {};
  const missing: string[] = [];
  for (const entry of OPERATIONS[operation]?.slots ?? []) {
    const slot = entry.replace('?', '');
    const share = said.shares[slot] ?? (said.input[slot] === undefined ? before?.shares[slot] : undefined);
    const value = said.input[slot] ?? before?.input[slot];
    if (share !== undefined) shares[slot] = share;
    else if (value !== undefined) input[slot] = value;
    else if (!entry.endsWith('?') || said.problems.some((problem) => problem.toLowerCase().includes(slot)))
      missing.push(slot);
  }
  const wanted = said.wanted ?? before?.wanted;
  return { operation, input, shares, missing, problems: said.problems, ...(wanted && { wanted }) };
}
