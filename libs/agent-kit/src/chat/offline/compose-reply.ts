import { cleanUntrusted } from '../../tokens/untrusted-text.js';
import type { Agenda, Pending } from './agenda.js';
import { describeIntent } from './describe-intent.js';
import type { Intent, Misunderstanding, Remark } from './intent.js';
import { OPERATIONS, QUESTIONS } from './lexicon/operations.js';

const MAX_PART_LENGTH = 160;

const PLACES: Readonly<Record<string, string>> = {
  perpsDeposit: 'the perps margin',
  perpsWithdraw: 'the perps margin',
  mintLending: 'lending',
  redeemLending: 'lending',
  stake: 'staking',
  unstake: 'staking',
  addLiquidity: 'a liquidity pool',
  removeLiquidity: 'a liquidity pool',
};

const HELP_TOPICS: readonly (readonly [string, readonly string[]])[] = [
  ['Tokens', ['getERC20Balance', 'transfer', 'approve', 'mintERC721']],
  ['Swaps', ['swap', 'getSwapQuote']],
  ['Staking', ['stake', 'unstake', 'claimUnstaked', 'getStakingPosition']],
  ['Lending', ['mintLending', 'borrowLending', 'repayLending', 'redeemLending', 'getLendingPosition']],
  ['Perps', ['perpsGetProducts', 'perpsDeposit', 'perpsOpenPosition', 'perpsClosePosition']],
  ['Liquidity', ['addLiquidity', 'removeLiquidity', 'getLiquidityPositions']],
  ['Payments', ['payForResource']],
];

const example = (operation: string): string => `"${OPERATIONS[operation]?.example ?? operation}"`;

const HELP = [
  'I understand plain requests, several in one sentence too. For example:',
  ...HELP_TOPICS.map(([topic, operations]) => `- ${topic}: ${operations.map(example).join(', ')}`),
].join('\n');

function composeRemark(remark: Remark): string[] {
  switch (remark.kind) {
    case 'greeting':
      return [
        'Hello! I can look at balances, swap, stake, lend, trade perpetuals and pay for web resources. Ask "help" for examples.',
      ];
    case 'thanks':
      return ['You are welcome.'];
    case 'help':
      return [HELP];
    case 'nothing':
      return ['All right, I do nothing.'];
    case 'portfolio':
      return [];
    case 'explain': {
      const entry = OPERATIONS[remark.operation];
      return entry ? [`This ${entry.does}. Nothing was done; to do it, say for example: "${entry.example}".`] : [];
    }
  }
}

function composeMisunderstanding({ part, reason, near }: Misunderstanding): string {
  const shown = cleanUntrusted(part, MAX_PART_LENGTH);
  const why = reason === '' ? '' : `: ${reason}`;
  const what =
    shown === ''
      ? 'I did not understand that.'
      : reason === ''
        ? `I did not understand "${shown}".`
        : `I do not act on "${shown}"${why}.`;
  return near.length === 0 ? what : `${what} Examples: ${near.map(example).join(', ')}.`;
}

const numbered = (intents: readonly Intent[]): string =>
  intents.length === 1
    ? intents.map(describeIntent).join('')
    : intents.map((intent, index) => `${index + 1}. ${describeIntent(intent)}`).join(', ');

const UNITS: Readonly<Record<string, string>> = {
  stake: 'SEI',
  unstake: 'stSEI',
  perpsDeposit: 'margin (USDC)',
  perpsWithdraw: 'margin (USDC)',
};

function nameUnit({ operation, input }: Intent, slot: string): string {
  const token =
    { amountA: input.tokenA, amountB: input.tokenB }[slot] ?? input.symbol ?? input.fromToken ?? input.token;
  const unit = UNITS[operation] ?? (token === '0x0' ? 'SEI' : token);
  if (operation === 'perpsOpenPosition')
    return ` ${String(input.product ?? 'of the base asset').replace(/-PERP$/, '')}`;
  return unit === undefined || !slot.startsWith('amount') ? '' : ` ${unit}`;
}

function composeQuestion(pending: Pending): string[] {
  switch (pending.kind) {
    case 'confirm':
      return [
        ...pending.intents.flatMap(({ problems }) => problems.map((problem) => `${problem}.`)),
        `What I understood: ${numbered(pending.intents)}. Nothing was done. Shall I do that? (yes or no)`,
      ];
    case 'place': {
      const places = pending.operations.map((operation) => PLACES[operation] ?? operation);
      return [`Nothing was done: where do you mean, ${places.slice(0, -1).join(', ')} or ${places.at(-1)}?`];
    }
    case 'slot': {
      const intent = pending.intents[pending.index];
      if (!intent) return [];
      const plan = pending.intents.length > 1 ? [`Nothing was done yet. The plan: ${numbered(pending.intents)}.`] : [];
      const problems = intent.problems.map((problem) => `${problem}.`);
      const rest =
        intent.missing.length > 1
          ? ` (I also need: ${intent.missing
              .slice(1)
              .map((slot) => SLOT_NAMES[slot] ?? slot)
              .join(', ')}.)`
          : '';
      const question = `${QUESTIONS[pending.slot] ?? pending.slot}${nameUnit(intent, pending.slot)}?`;
      return [...plan, ...problems, `To ${describeIntent(intent)}: ${question}${rest}`];
    }
  }
}

const SLOT_NAMES: Readonly<Record<string, string>> = {
  amount: 'the amount',
  fromToken: 'the token to give',
  toToken: 'the token to get',
  token: 'the token',
  symbol: 'the token',
  tokenA: 'the first token',
  tokenB: 'the second token',
  amountA: 'the first amount',
  amountB: 'the second amount',
  to: 'the address',
  spender: 'the address of the spender',
  contractAddress: 'the address of the collection',
  tokenId: 'the number of the NFT',
  positionId: 'the number of the position',
  product: 'the product',
  side: 'long or short',
};

/** All that is said at the end of a turn: what came of it, what was not understood, and what is still to be answered. */
export function composeReply(agenda: Agenda, lines: readonly string[]): string {
  const { preface, remarks, misunderstandings, pending, isStillPending, readAs } = agenda;
  const said = [...new Set(remarks.map((remark) => JSON.stringify(remark)))].flatMap((remark) =>
    composeRemark(JSON.parse(remark) as Remark),
  );
  const spelling =
    readAs.length > 0 && agenda.intents.length === 0 && pending ? [`I read ${readAs.join(' and ')}.`] : [];
  const question = pending ? composeQuestion(pending) : [];
  return [
    ...preface,
    ...lines,
    ...said,
    ...misunderstandings.map(composeMisunderstanding),
    ...spelling,
    ...(isStillPending && question.length > 0 ? ['Still open:', ...question] : question),
  ].join('\n');
}
