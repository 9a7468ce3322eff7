import { cleanUntrusted } from '../../tokens/untrusted-text.js';
import type { Intent, Share, SlotValue } from './intent.js';
import { isObject, type JsonObject } from './read-turns.js';
import { shareAmount } from './share-amount.js';

export interface Reading {
  name: string;
  args: Record<string, SlotValue>;
  /** Finds the amount in what the tool answered. */
  find: (data: JsonObject) => unknown;
  /** Left in the wallet, for gas. */
  keepBack: string;
  what: string;
  /** Where the tool does not tell them. */
  decimals: number;
}

/** A tenth of a SEI pays for many transactions; all of the balance would leave none for the next. */
const GAS_RESERVE = '0.1';
const KNOWN_DECIMALS: Readonly<Record<string, number>> = { USDC: 6, USDT: 6, WBTC: 8, SEI: 18, WSEI: 18, stSEI: 18 };
// Any token has at least these in practice; fewer decimals only leave a speck behind.
const CAUTIOUS_DECIMALS = 6;

const findIn = (list: unknown, key: string, wanted: SlotValue | undefined, field: string): unknown => {
  const entries = Array.isArray(list) ? list.filter(isObject) : [];
  const own = entries.find((entry) => String(entry[key]).toLowerCase() === String(wanted).toLowerCase());
  return own ? own[field] : '0';
};

function walletReading(token: SlotValue | undefined): Reading | null {
  if (token === undefined) return null;
  const isNative = token === '0x0' || token === 'SEI';
  return {
    name: 'getERC20Balance',
    args: isNative ? {} : { contractAddress: token },
    find: ({ balance }) => balance,
    keepBack: isNative ? GAS_RESERVE : '0',
    what: isNative ? 'SEI' : String(token),
    decimals: KNOWN_DECIMALS[isNative ? 'SEI' : String(token)] ?? CAUTIOUS_DECIMALS,
  };
}

const positionReading = (name: string, what: string, decimals: number, find: Reading['find']): Reading => ({
  name,
  args: {},
  find,
  keepBack: '0',
  what,
  decimals,
});

/** Which reading tells the balance that a slot is a part of. */
export function readingsFor({ operation, input }: Intent, slot: string): Reading | null {
  const { symbol, product } = input;
  const decimals = KNOWN_DECIMALS[String(symbol)] ?? CAUTIOUS_DECIMALS;
  switch (operation) {
    case 'swap':
    case 'getSwapQuote':
      return walletReading(input.fromToken);
    case 'transfer':
    case 'approve':
      return walletReading(input.token);
    case 'addLiquidity':
      return walletReading(slot === 'amountA' ? input.tokenA : input.tokenB);
    case 'mintLending':
      return walletReading(symbol);
    case 'stake':
    case 'getStakeQuote':
      return walletReading('0x0');
    case 'perpsDeposit':
      return walletReading('USDC');
    case 'unstake':
      return positionReading('getStakingPosition', 'staked stSEI', 18, ({ staked }) => staked);
    case 'redeemLending':
      return positionReading('getLendingPosition', `supplied ${symbol}`, decimals, ({ supplied }) =>
        findIn(supplied, 'symbol', symbol, 'amount'),
      );
    case 'repayLending':
      return positionReading('getLendingPosition', `borrowed ${symbol}`, decimals, ({ borrowed }) =>
        findIn(borrowed, 'symbol', symbol, 'amount'),
      );
    case 'perpsWithdraw':
      return positionReading('perpsGetPositions', 'free margin', 6, ({ freeMargin }) => freeMargin);
    case 'perpsClosePosition':
      return positionReading('perpsGetPositions', `${product} position`, 18, ({ positions }) =>
        findIn(positions, 'product', product, 'quantity'),
      );
    default:
      return null;
  }
}

/** The part of the balance that a tool answered, with a sentence on how it came about. */
export function computeAmount(
  data: JsonObject,
  reading: Reading,
  share: Share,
): { amount: string; note: string } | { problem: string } {
  const balance = reading.find(data);
  const told = isObject(data.token) ? data.token.decimals : undefined;
  const decimals =
    typeof told === 'number' && Number.isInteger(told) && told >= 0 && told <= 255 ? told : reading.decimals;
  const amount = typeof balance === 'string' ? shareAmount(balance, share, decimals, reading.keepBack) : null;
  const shown = cleanUntrusted(typeof balance === 'string' ? balance : 'nothing', 90);
  if (amount === null) return { problem: `Of ${shown} ${reading.what} there is nothing to use.` };
  const isAll = share.numerator === share.denominator;
  const part = isAll ? 'All' : `${share.numerator}/${share.denominator}`;
  const kept = reading.keepBack !== '0' && isAll ? `, with ${reading.keepBack} left for gas` : '';
  return { amount, note: `${part} of ${shown} ${reading.what}${kept} is ${amount}.` };
}
