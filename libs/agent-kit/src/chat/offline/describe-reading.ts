import { cleanUntrusted } from '../../tokens/untrusted-text.js';
import type { Intent } from './intent.js';
import { isObject, type JsonObject } from './read-turns.js';

const MAX_CELL_LENGTH = 60;
const MAX_ROWS = 40;

const cell = (value: unknown): string => {
  if (value === undefined || value === null) return '-';
  return cleanUntrusted(typeof value === 'string' ? value : JSON.stringify(value), MAX_CELL_LENGTH);
};

const listOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

type Column = readonly [title: string, read: (row: JsonObject) => unknown];

/** Rows of text under their titles, in columns; or the sentence for no rows. */
function formatTable(rows: readonly JsonObject[], columns: readonly Column[], none: string): string {
  if (rows.length === 0) return none;
  const lines = [
    columns.map(([title]) => title),
    ...rows.slice(0, MAX_ROWS).map((row) => columns.map(([, read]) => cell(read(row)))),
  ];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  const text = lines.map((line) =>
    line
      .map((value, index) => value.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  if (rows.length > MAX_ROWS) text.push(`… and ${rows.length - MAX_ROWS} more`);
  return text.join('\n');
}

const field =
  (name: string): Column[1] =>
  (row) =>
    row[name];
const inside =
  (outer: string, name: string): Column[1] =>
  (row) => {
    const value = row[outer];
    return isObject(value) ? value[name] : undefined;
  };
const amountAndTicker =
  (outer: string): Column[1] =>
  (row) => {
    const side = row[outer];
    if (!isObject(side)) return undefined;
    const ticker = isObject(side.token) ? side.token.ticker : (side.ticker ?? side.symbol ?? side.token);
    return `${cell(side.amount)} ${cell(ticker)}`;
  };

const PRODUCTS: readonly Column[] = [
  ['product', field('symbol')],
  ['price', field('markPrice')],
  ['step', field('increment')],
  ['least', field('minQuantity')],
  ['most', field('maxQuantity')],
  ['taker fee', field('takerFee')],
  ['active', (row) => (row.active === false ? 'no' : 'yes')],
];
const PERPS_POSITIONS: readonly Column[] = [
  ['product', field('product')],
  ['side', field('side')],
  ['quantity', field('quantity')],
  ['entry', field('entryPrice')],
  ['margin', field('margin')],
  ['profit or loss', field('unrealizedPnl')],
  ['liquidation at', field('liquidationPrice')],
];
const MARKETS: readonly Column[] = [
  ['token', field('symbol')],
  ['supply % a year', field('supplyRatePercent')],
  ['borrow % a year', field('borrowRatePercent')],
  ['collateral factor', field('collateralFactor')],
  ['available', field('cash')],
];
const POOLS: readonly Column[] = [
  ['position', field('positionId')],
  ['first', amountAndTicker('tokenA')],
  ['second', amountAndTicker('tokenB')],
  ['fee', field('fee')],
];
const TOKENS: readonly Column[] = [
  ['token', (row) => row.ticker ?? row.symbol],
  ['decimals', field('decimals')],
  ['address', field('address')],
];

const amounts = (value: unknown): string =>
  listOf(value)
    .map((held) => `${cell(held.amount)} ${cell(held.symbol)}`)
    .join(', ') || 'nothing';

function describeLending(data: JsonObject): string {
  const health =
    data.health === null || data.health === undefined
      ? 'There is no debt, so there is nothing to liquidate.'
      : `Health ${cell(data.health)}: below 1 the position can be liquidated.`;
  const left =
    data.available === undefined ? '' : ` May still be borrowed, in the unit of the prices: ${cell(data.available)}.`;
  return `Supplied: ${amounts(data.supplied)}. Borrowed: ${amounts(data.borrowed)}. ${health}${left}`;
}

function describeStaking(data: JsonObject): string {
  const token = cell(data.stakedToken ?? 'stSEI');
  const queued = listOf(data.queued).map(({ amount, claimableAt }) => `${cell(amount)} SEI from ${cell(claimableAt)}`);
  const waiting = queued.length === 0 ? '' : ` Queued: ${queued.slice(0, MAX_ROWS).join(', ')}.`;
  return `Staked: ${cell(data.staked)} ${token}, worth ${cell(data.worth)} SEI. Claimable now: ${cell(data.claimable)} SEI.${waiting}`;
}

function describeTransaction(data: JsonObject): string {
  const moves = listOf(data.moved).map(
    (move) =>
      `${cell(move.amount ?? move.amountBaseUnits ?? move.tokenId)} ${cell(inside('token', 'ticker')(move) ?? inside('token', 'address')(move))} from ${cell(move.from)} to ${cell(move.to)}`,
  );
  const moved = moves.length === 0 ? 'It moved nothing that can be seen.' : `It moved ${moves.join('; ')}.`;
  return data.status === 'pending' ? 'It is not mined yet.' : `It was mined, and is a success. ${moved}`;
}

const itemsOf = (data: JsonObject, name: string): readonly JsonObject[] => listOf(data[name] ?? data.items);

const nameToken = (value: unknown): string => (value === '0x0' ? 'SEI' : cell(value));

/** What a reading answered, as a sentence or a table. */
export function describeReading({ operation, input }: Pick<Intent, 'operation' | 'input'>, data: JsonObject): string {
  switch (operation) {
    case 'getERC20Balance':
      return `Balance: ${cell(data.balance)} ${cell(inside('token', 'ticker')(data) ?? input.contractAddress ?? 'SEI')}`;
    case 'getAccount':
      return `Your address is ${cell(data.address)}, on ${cell(data.chain)} (chain ${cell(data.chainId)}).`;
    case 'getTransaction':
      return describeTransaction(data);
    case 'getERC721Balance':
      return `You own ${cell(data.balance)} of ${cell(inside('token', 'ticker')(data) ?? input.contractAddress)}.`;
    case 'getERC20Allowance': {
      const amount = data.isUnlimited === true ? 'any amount' : cell(data.allowance);
      return `${cell(input.spender)} may spend ${amount} ${cell(inside('token', 'ticker')(data) ?? input.token)}.`;
    }
    case 'resolveToken':
      return `${cell(data.ticker ?? input.symbol)} is ${cell(data.address)}, with ${cell(data.decimals)} decimals.`;
    case 'listTokens':
      return formatTable(itemsOf(data, 'tokens'), TOKENS, 'The token list is empty.');
    case 'getSwapQuote': {
      const least = data.minimumAmount === undefined ? '' : `, and at least ${cell(data.minimumAmount)}`;
      return `${cell(input.amount)} ${nameToken(input.fromToken)} would give about ${cell(data.expectedAmount)} ${nameToken(input.toToken)}${least}. Nothing was swapped.`;
    }
    case 'getStakeQuote':
      return `Staking ${cell(input.amount)} SEI would give ${cell(data.receives)} ${cell(data.stakedToken ?? 'stSEI')}. Nothing was staked.`;
    case 'getLiquidityPositions':
      return formatTable(itemsOf(data, 'positions'), POOLS, 'You have no liquidity positions.');
    case 'getLendingMarkets':
      return formatTable(itemsOf(data, 'markets'), MARKETS, 'There are no lending markets.');
    case 'getLendingPosition':
      return describeLending(data);
    case 'getStakingPosition':
      return describeStaking(data);
    case 'perpsGetProducts':
      return formatTable(itemsOf(data, 'products'), PRODUCTS, 'There are no products.');
    case 'perpsGetPositions': {
      const table = formatTable(itemsOf(data, 'positions'), PERPS_POSITIONS, 'You have no open perpetual positions.');
      return `Free margin: ${cell(data.freeMargin)} ${cell(data.marginToken ?? '')}`.trimEnd() + `\n${table}`;
    }
    default:
      return cell(data);
  }
}
