import { z } from 'zod';

import { readFieldFacts } from '../../operations/define/field-facts.js';
import type { Operation } from '../../operations/define/operation.js';
import { quoteUntrusted } from '../../types/untrusted-text.js';

/** An input of an operation that a word of the line can give. */
export interface Slot {
  field: string;
  /** The name that people see: the field's, or `token` for a token whose field has another name. */
  label: string;
  /** Its meaning for people, from the schema. */
  about: string;
  schema: z.core.$ZodType;
  isToken: boolean;
  /** Whether it is asked for when the line lacks it. */
  isAsked: boolean;
}

export interface Command {
  name: string;
  operation: Operation;
  /** In the order of the line; a list holds link words, which may be left out: `to` in `swap 1 USDC to SEI`. */
  parts: readonly (Slot | readonly string[])[];
  /** Every input of the operation, each also a flag: `--slippageBps 50`. */
  flags: readonly Slot[];
  usage: string;
}

/**
 * Stands for the token after an amount whose token is fixed, as in `stake 2 SEI`: no input, but checked against the
 * plan.
 */
export const UNIT = '$unit';

interface FlagAlias {
  field: string;
  /** How people write its value; as that of the field if omitted. */
  usage?: string;
  /** The value for the field; a word that it cannot read stays as it is, for the field to refuse. */
  read?: (word: string) => string;
}

/** Other names of flags, by which people say the same. */
export const FLAG_ALIASES: Readonly<Record<string, FlagAlias>> = {
  max: { field: 'maxAmount' },
  slippage: { field: 'slippageBps', usage: 'PERCENT', read: readPercent },
};

/** `0.5` as 50 basis points. */
function readPercent(word: string): string {
  const [, whole, part = ''] = /^([0-9]{1,3})(?:\.([0-9]{1,2}))?%?$/.exec(word) ?? [];
  return whole === undefined ? word : String(Number(whole + part.padEnd(2, '0')));
}

/**
 * By operation: the command's name and the order of its words. `field` is asked for when missing, `[field]` is not,
 * `(word)` links. An amount stands before its token. An operation that is not here, such as a plugin's, has its own
 * name as command, and takes its required fields in the order of its schema.
 */
const SHORT_FORMS: Readonly<Record<string, string>> = {
  getAccount: 'address',
  getTransaction: 'tx hash',
  getERC20Balance: 'balance (of) [contractAddress]',
  getERC20Allowance: 'allowance token (for) spender',
  getERC721Balance: 'nfts contractAddress',
  resolveToken: 'token symbol',
  listTokens: 'tokens',
  getSwapQuote: 'quote amount fromToken (to|for) toToken',
  getLiquidityPositions: 'pools',
  getLendingMarkets: 'markets',
  getLendingPosition: 'loans',
  getStakeQuote: 'quote-stake amount',
  getStakingPosition: 'staking',
  perpsGetProducts: 'products',
  perpsGetPositions: 'positions',
  transfer: 'send amount token (to) to',
  approve: 'approve amount token (for) spender',
  transferERC721: 'send-nft contractAddress tokenId (to) to',
  mintERC721: 'mint-nft contractAddress tokenId',
  swap: 'swap amount fromToken (to|for) toToken',
  addLiquidity: 'add-liquidity amountA tokenA (and) amountB tokenB',
  removeLiquidity: 'remove-liquidity positionId',
  mintLending: 'supply amount symbol',
  redeemLending: 'redeem amount symbol',
  borrowLending: 'borrow amount symbol',
  repayLending: 'repay amount symbol',
  stake: `stake amount [${UNIT}]`,
  unstake: `unstake amount [${UNIT}]`,
  claimUnstaked: 'claim',
  perpsDeposit: `deposit-margin amount [${UNIT}]`,
  perpsWithdraw: `withdraw-margin amount [${UNIT}]`,
  perpsOpenPosition: 'open side amount product',
  perpsClosePosition: 'close product',
  listPaidResources: 'sold (at|by) host',
  payForResource: 'pay (for) url',
};

/** The commands of the operations, in their order. */
export function createCommands(operations: readonly Operation[]): readonly Command[] {
  return operations.map((operation) => {
    const shape: Readonly<Record<string, z.core.$ZodType>> = operation.input.shape;
    const fields = Object.entries(shape).filter(([, schema]) => !takesObject(schema));
    const flags = fields.map(([field, schema]) => createSlot(field, schema));
    const required = flags.filter(({ schema }) => !isOptional(schema)).map(({ field }) => field);
    const form = Object.hasOwn(SHORT_FORMS, operation.name) ? SHORT_FORMS[operation.name] : undefined;
    const [name = operation.name, ...words] = form?.split(' ') ?? [operation.name, ...required];
    const parts = words.map((word) => createPart(word, flags));
    return { name, operation, parts, flags, usage: [name, ...parts.map(showPart)].join(' ') };
  });
}

function createSlot(field: string, schema: z.core.$ZodType): Slot {
  const { isToken = false } = readFieldFacts(schema);
  const label = isToken && !/token/i.test(field) ? 'token' : field;
  const about = z.globalRegistry.get(schema)?.description ?? '';
  return { field, label, about, schema, isToken, isAsked: !isOptional(schema) };
}

/** No word of a line is one. */
const takesObject = (schema: z.core.$ZodType): boolean => z.safeParse(schema, {}).success;

const isOptional = (schema: z.core.$ZodType): boolean => z.safeParse(schema, undefined).success;

const UNIT_SLOT: Slot = {
  field: UNIT,
  label: 'token',
  about: 'The token of the amount',
  schema: z.string(),
  isToken: true,
  isAsked: false,
};

function createPart(word: string, slots: readonly Slot[]): Command['parts'][number] {
  const [, links] = /^\((.+)\)$/.exec(word) ?? [];
  if (links !== undefined) return links.split('|');
  const [, optional] = /^\[(.+)\]$/.exec(word) ?? [];
  if (optional === UNIT) return UNIT_SLOT;
  const slot = slots.find(({ field }) => field === (optional ?? word));
  if (!slot) throw new Error(`${word} is no input of the operation`);
  return { ...slot, isAsked: optional === undefined };
}

function showPart(part: Command['parts'][number]): string {
  if (!('field' in part)) return `[${part.join('|')}]`;
  return part.isAsked ? `<${part.label}>` : `[${part.label}]`;
}

export const isSame = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();

/** By the command's name, or by its operation's. */
export function findCommand(name: string, commands: readonly Command[]): Command | undefined {
  return commands.find((command) => isSame(command.name, name) || isSame(command.operation.name, name));
}

// The commands that are not operations.
const OTHERS = [
  { name: 'history', usage: 'history', title: 'The commands of this session and their results' },
  { name: 'help', usage: 'help [command]', title: 'Every input of a command' },
];

/** The inputs of a command, one a line. */
export function describeCommand({ usage, operation, flags }: Command): string {
  const inputs = flags.map(({ field, about }) => {
    const aliases = Object.entries(FLAG_ALIASES)
      .filter(([, alias]) => alias.field === field)
      .map(([name, alias]) => [name, alias.usage].filter(Boolean).join(' '));
    return `    ${[field, ...aliases].map((name) => `--${name}`).join(', ')}: ${about}`;
  });
  return [`  ${usage}`, ...inputs, `  ${operation.description}`].join('\n');
}

/** Every command, on one line. */
export function listCommands(commands: readonly Command[]): string {
  const rows = [
    ...commands.map(({ usage, operation: { readOnly, title } }) => [readOnly ? ' ' : '*', usage, title] as const),
    ...OTHERS.map(({ usage, title }) => [' ', usage, title] as const),
  ];
  const width = Math.max(...rows.map(([, usage]) => usage.length));
  return [
    ...rows.map(([mark, usage, title]) => `  ${mark} ${usage.padEnd(width)}  ${title}`),
    '* sends transactions, once you have approved its plan. Missing inputs are asked for; Tab completes a word;',
    '--json at the end of a line shows the result in full. Sentences need a language model, for example --model openai.',
  ].join('\n');
}

/** Reports that the words are no command, and suggests the nearest one, which never runs by itself. */
export function describeNearest(words: readonly string[], commands: readonly Command[]): string {
  const [first = ''] = words;
  const known = [...commands, ...OTHERS];
  const named = known.find(({ name }) => words.some((word) => isSame(word, name)));
  const [close] = [1, 2].flatMap((most) =>
    known.filter(({ name }) => most <= name.length - 2 && isNear(first.toLowerCase(), name, most)),
  );
  const nearest = named ?? close ?? known.find(({ name }) => first.length > 1 && name.startsWith(first.toLowerCase()));
  const what = first === '' ? 'There is no command in this line.' : `There is no command ${quoteUntrusted(first, 60)}.`;
  return `${what} ${nearest ? `Did you mean: ${nearest.usage}` : '"help" lists the commands.'}`;
}

/** Whether at most so many letters have to be put in, left out or replaced. */
function isNear(from: string, to: string, most: number): boolean {
  if (most < 0 || Math.abs(from.length - to.length) > most) return false;
  if (from === '' || to === '') return true;
  const [left, right] = [from.slice(1), to.slice(1)];
  if (from[0] === to[0]) return isNear(left, right, most);
  return isNear(left, to, most - 1) || isNear(from, right, most - 1) || isNear(left, right, most - 1);
}
