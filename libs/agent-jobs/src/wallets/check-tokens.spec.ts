import { AGENT_OPERATIONS, type AgentJob } from '@tollgate/protocol';
import fc from 'fast-check';
import { createPublicClient, http, zeroAddress } from 'viem';

import { parseAmount } from '../../../../packages/agent-kit/src/tokens/parse-amount.js';
import { createTokenResolver } from '../../../../packages/agent-kit/src/tokens/resolve-token.js';
import { listFields } from '../request/job-inputs.js';
import { findTokenProblems, parseKnownTokens, type KnownToken } from './wallet-directory.js';

const USDC = '0x4fCF1784B31630811181f670Aea7A7bEF803eaED';
const GOLD = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const UNLISTED = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const TO = '0x00000000000000000000000000000000000a11ce';

// No chain is read: checks of the kit that need the chain are not compared.
const client = createPublicClient({ transport: http('http://127.0.0.1:2', { retryCount: 0 }) });
const OWN_LIST = [
  { address: USDC, symbol: 'USDC', decimals: 6 },
  { address: GOLD, symbol: 'XAU', aliases: ['gold', 'SEI'], decimals: 0 },
  { address: TO, symbol: 'ONE', decimals: 2 },
  { address: UNLISTED.replace('70', '71').toLowerCase() as typeof USDC, symbol: 'one', decimals: 3 },
] as const;
// Tokens of the user, which are not probed on the chain.
const kit = createTokenResolver(client, { symbol: 'SEI', decimals: 18 }, [], OWN_LIST);
const TOKENS: KnownToken[] = kit.named.map(({ token, names }) => ({ ...token, names }));

const problemsOf = ({ operation, input }: Omit<AgentJob, 'wallet'>) =>
  findTokenProblems({ operation, input: { ...input } }, TOKENS);

describe('findTokenProblems', () => {
  it('reports the same problems with tokens and amounts as the kit', async () => {
    const references = [
      ...TOKENS.flatMap(({ names, address }) => [...names, address]),
      'usdc',
      'Usdc',
      'EURC',
      'gold ',
      '0x1',
      '__proto__',
    ];
    const spellings = references.flatMap((text) => [text, text.toUpperCase(), text.toLowerCase()]);
    const amounts = fc.oneof(fc.stringMatching(/^\d{1,4}(\.\d{1,20})?$/), fc.constantFrom('9'.repeat(78), '0.1000000'));
    const seen = { taken: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...spellings), amounts, async (token, amount) => {
        fc.pre(/[1-9]/.test(amount));
        const isTaken = await kit.resolve(token).then(
          (resolved) => isAmount(() => parseAmount(amount, resolved)),
          () => false,
        );
        const problems = problemsOf({ operation: 'transfer', input: { amount, to: TO, token } });
        expect(problems.length === 0).toBe(isTaken);
        seen[isTaken ? 'taken' : 'refused'] += 1;
      }),
      { numRuns: 500 },
    );
    expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(20);
  });

  it.each<[Omit<AgentJob, 'wallet'>, string[]]>([
    [
      { operation: 'swap', input: { amount: '0.1234567', fromToken: 'USDC', toToken: 'EURC' } },
      [
        'input.amount must have at most 6 decimals, as USDC has',
        "input.toToken must be 0x0, an address, or a symbol of the chain's token list: SEI, USDC, XAU, ONE, one",
      ],
    ],
    [
      { operation: 'transfer', input: { amount: '1', to: TO, token: USDC.replace('fCF', 'fcf') } },
      ['input.token must be an address with a valid checksum (the case of its letters)'],
    ],
    [
      { operation: 'transfer', input: { amount: '1.234', to: TO, token: 'one' } },
      ['input.token is the symbol of several tokens: use the address of the right one'],
    ],
    [
      { operation: 'transfer', input: { amount: `0.${'1'.repeat(19)}`, to: TO } },
      ['input.amount must have at most 18 decimals, as SEI has'],
    ],
    [
      { operation: 'stake', input: { amount: '9'.repeat(70) } },
      ['input.amount is more than the largest possible amount of SEI'],
    ],
    [{ operation: 'repayLending', input: { symbol: 'gold', amount: 'MAX' } }, []],
    [
      { operation: 'repayLending', input: { symbol: 'gold', amount: '0.5' } },
      ['input.amount must have at most 0 decimals, as XAU has'],
    ],
    [{ operation: 'approve', input: { token: 'USDC', spender: TO, amount: '0.0000000' } }, []],
    [
      { operation: 'approve', input: { token: USDC, spender: TO, amount: '0.0000001' } },
      ['input.amount must have at most 6 decimals, as USDC has'],
    ],
    // Only the chain knows what a contract reports about itself.
    [{ operation: 'transfer', input: { amount: `0.${'1'.repeat(40)}`, to: TO, token: UNLISTED } }, []],
    [{ operation: 'transfer', input: { amount: '1', to: TO, token: zeroAddress } }, []],
    [{ operation: 'unstake', input: { amount: `0.${'1'.repeat(40)}` } }, []],
  ])('finds the problems of %j', (job, problems) => {
    expect(problemsOf(job)).toEqual(problems);
  });

  it.each(AGENT_OPERATIONS)('identifies the token of the amounts of %s by existing fields', (operation) => {
    const fields = listFields(operation);
    for (const { amountOf } of fields) {
      if (typeof amountOf !== 'string') continue;
      expect(fields.find(({ name }) => name === amountOf)?.isToken).toBe(true);
    }
  });
});

describe('parseKnownTokens', () => {
  it('reads its own format, and nothing of another shape', () => {
    const own = TOKENS.map(({ symbol, address, decimals, names }) => ({ symbol, address, decimals, names }));
    expect(parseKnownTokens(JSON.stringify(TOKENS))).toEqual(own);
    for (const text of ['', '{}', '[1]', '[{"symbol":"A","address":"0x0","decimals":1}]', 'null']) {
      expect(parseKnownTokens(text)).toBeNull();
    }
  });
});

function isAmount(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}
