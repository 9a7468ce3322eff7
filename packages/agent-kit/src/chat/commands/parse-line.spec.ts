import fc from 'fast-check';
import { z } from 'zod';

import { anyCharacter } from '../../../../../test/harness/any-text.js';
import { CATALOG } from '../../operations/catalog.js';
import { defineWrite } from '../../operations/define/operation.js';
import { completeLine } from '../command-line.js';
import { createCommands, listCommands } from './commands.js';
import { parseLine, type Vocabulary } from './parse-line.js';

const ADDRESS = '0x1111111111111111111111111111111111111111';
const URL = 'http://127.0.0.1:4020/api/weather';

const plugin = defineWrite({
  name: 'tipArtist',
  title: 'Tip',
  description: 'Tips.',
  input: z.object({ artist: z.string(), amount: z.string().regex(/^\d+$/), note: z.string().optional() }),
  plan: () => Promise.reject(new Error('not planned here')),
});
const commands = createCommands([...CATALOG, plugin]);
const vocabulary: Vocabulary = { commands, tokens: ['SEI', 'USDC', 'WSEI', 'stSEI'], resources: { weather: URL } };

/** `swap amount=1 fromToken=USDC toToken=?`, or why the line is refused. */
function read(line: string): string {
  const parsed = parseLine(line, vocabulary);
  if (parsed.kind === 'refused') return parsed.reason.split('\n')[0]!;
  if (parsed.kind !== 'order') return parsed.kind;
  const { command, input, unit, missing, isLong } = parsed;
  const given = Object.entries(input).map(([field, value]) => `${field}=${value}`);
  const asked = missing.map(({ field }) => `${field}=?`);
  return [
    command.operation.name,
    ...given,
    ...asked,
    ...(unit ? [`in ${unit}`] : []),
    ...(isLong ? ['long'] : []),
  ].join(' ');
}

it.each([
  ['what is my balance', 'getERC20Balance'],
  ['What is my balance of usdc?', 'getERC20Balance contractAddress=usdc'],
  ['show me the address please', 'getAccount'],
  ['swap 1 USDC SEI', 'swap amount=1 fromToken=USDC toToken=SEI'],
  ['swap 1 USDC to WSEI', 'swap amount=1 fromToken=USDC toToken=WSEI'],
  ['Swap USDC for WSEI --slippageBps 50 --json', 'swap fromToken=USDC toToken=WSEI slippageBps=50 amount=? long'],
  ['swap 1 USDC SEI --slippage 0.5', 'swap amount=1 fromToken=USDC toToken=SEI slippageBps=50'],
  ['swap 1 USDC SEI --slippage 1%', 'swap amount=1 fromToken=USDC toToken=SEI slippageBps=100'],
  ['swap 1 to WSEI', 'swap amount=1 toToken=WSEI fromToken=?'],
  ['stake 2', 'stake amount=2'],
  ['stake 2 SEI.', 'stake amount=2 in SEI'],
  ['repay max usdc', 'repayLending amount=MAX symbol=usdc'],
  ['open LONG 0.1 BTC-PERP --leverage 5', 'perpsOpenPosition side=long amount=0.1 product=BTC-PERP leverage=5'],
  ['pay for the weather', `payForResource url=${URL}`],
  [`pay ${URL} --max 0.01`, `payForResource url=${URL} maxAmount=0.01`],
  ['send 1', 'transfer amount=1 token=? to=?'],
  [`send 1 USDC to ${ADDRESS}`, `transfer amount=1 token=USDC to=${ADDRESS}`],
  ['mintLending 5 USDC', 'mintLending amount=5 symbol=USDC'],
  ['tipArtist bob 5', 'tipArtist artist=bob amount=5'],
])('reads %p', (line, expected) => expect(read(line)).toBe(expected));

it.each([
  ['send 1 cent', '"cent"'],
  [`send one USDC to ${ADDRESS}`, '"one"'],
  ['swap 1 USDC to WSEI tomorrow', '"tomorrow"'],
  ['swap WSEI for 1 USDC', '"1"'],
  ['add-liquidity USDC 1 WSEI', '"1"'],
  ['stake 1e18', '"1e18"'],
  ['stake 0', '"0"'],
  ['stake 1,5', '"1,5"'],
  ['stake １', '"１"'],
  ['stake 1 2', '"2"'],
  ['supply 10 USDC and borrow 3', '"and", "borrow", "3"'],
  ['stake 2 \u001b[2J\u202e', '"[2J"'],
  [`send 1 USDC to 0xAb5801a7D398351b8bE11C439e05C5B3259aeC9C`, '"0xAb5801a7D398351b8bE11C439e05C5B3259aeC9C"'],
  ['pay for the coffee', '"coffee"'],
  ['swap 1 USDC SEI --slippage 0.005', '"0.005"'],
  ['swap 1 USDC SEI --slippage much', '"much"'],
])('names the unknown words in %p', (line, words) => expect(read(line)).toContain(`I cannot read ${words} here.`));

it.each([
  ['stake -1', "Unknown option '-1'"],
  ['swap 1 USDC SEI --slipage 5', "Unknown option '--slipage'"],
  ['swap 1 USDC SEI --max 5', "Unknown option '--max'"],
  [`pay ${URL} --max`, "'--max <value>' argument missing"],
  [`pay ${URL} --max 1 --max 2`, 'maxAmount is given twice.'],
  [`pay ${URL} --max 1 --maxAmount 1`, 'maxAmount is given twice.'],
  ['stake 1 --amount 2', 'amount is given twice.'],
  ['swpa 1 USDC SEI', 'There is no command "swpa". Did you mean: swap <amount> <fromToken> [to|for] <toToken>'],
  ['I want to stake 2', 'There is no command "I". Did you mean: stake <amount> [token]'],
  ['close -- --token=SEI', 'A word cannot be "--".'],
  ['constructor', 'There is no command "constructor". "help" lists the commands.'],
  ['hlep', 'Did you mean: help'],
  ['bal', 'Did you mean: balance [of] [token]'],
  ['history of mine', 'history takes no "of".'],
  ['?', 'There is no command in this line.'],
])('refuses %p', (line, reason) => expect(read(line)).toContain(reason));

it('refuses endless words and lines, and shows only the beginning of one', () => {
  expect(read(`stake ${'9'.repeat(4_000)}`)).toBe(`I cannot read "${'9'.repeat(60)}…" here.`);
  expect(read(`stake ${'9'.repeat(5_000)}`)).toBe('The line is longer than 4096 characters.');
});

it('reaches every operation by a name of its own, and lists it', () => {
  const list = listCommands(commands);
  for (const { name, operation, usage } of commands) {
    expect(parseLine(`help ${name}`, vocabulary)).toMatchObject({ kind: 'help', about: { operation } });
    expect(list).toContain(`${operation.readOnly ? ' ' : '*'} ${usage} `);
    const required = z.toJSONSchema(operation.input, { io: 'input' }).required ?? [];
    const missing = required.map((field): unknown => expect.objectContaining({ field }));
    expect(parseLine(name, vocabulary)).toMatchObject({
      command: { operation },
      missing: expect.arrayContaining(missing),
    });
  }
  expect(new Set(commands.map(({ name }) => name)).size).toBe(CATALOG.length + 1);
});

it('completes commands, tokens, resources and flags', () => {
  expect(completeLine('sta', vocabulary)).toEqual(['staking ', 'stake ']);
  expect(completeLine('swap 1 us', vocabulary)).toEqual(['USDC ']);
  expect(completeLine('pay for wea', vocabulary)).toEqual(['weather ']);
  expect(completeLine(`pay ${URL} --`, vocabulary)).toEqual([
    '--url ',
    '--maxAmount ',
    '--method ',
    '--body ',
    '--json ',
  ]);
});

const FILL = ['what', 'is', 'my', 'the', 'please', 'me', 'show', "what's"];
const names = commands.flatMap(({ name, operation }) => [name, operation.name]);
const word = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('1', '2.5', 'USDC', 'sei', 'WSEI', 'to', 'for', 'of', 'and', ADDRESS, 'weather'),
  },
  { weight: 2, arbitrary: fc.constantFrom(...FILL, 'MAX', 'long', 'BTC-PERP', '--max', '--amount', '--json', '7') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('cent', '1e3', '-1', '$1', '0x', '1USDC', 'from', 'not', '--', '--token=SEI'),
  },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 6 }) },
);

it('orders nothing that is not in the line, and skips no word of it', () => {
  let orders = 0;
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.array(word, { maxLength: 7 }), (name, rest) => {
      const line = [name, ...rest].join(' ');
      const parsed = parseLine(line, vocabulary);
      if (parsed.kind !== 'order') return;
      orders += 1;
      const { command, input, unit } = parsed;
      const words = line.split(/\s+/).flatMap((text) =>
        text
          .replace(/[?!.]+$/, '')
          .toLowerCase()
          .split(/(?<=^--\w+)=/),
      );
      const values = [...Object.values(input), ...(unit ? [unit] : [])].map((value) =>
        value === URL ? 'weather' : value,
      );
      const links = command.parts.flatMap((part) => ('field' in part ? [] : part));
      for (const value of values) expect(words).toContain(value.toLowerCase());
      const known = [name, ...FILL, ...links, ...values].map((text) => text.toLowerCase());
      expect(words.filter((text) => !known.includes(text) && !text.startsWith('--') && text !== '')).toEqual([]);
      // An amount among the words stands right before its token, and before no other one.
      const meant = words.filter((text) => !FILL.includes(text) && !text.startsWith('--'));
      const { amount, fromToken, toToken } = input;
      if (rest.includes('--amount') || !amount || !fromToken || !toToken) return;
      expect(meant.join(' ')).toContain(`${amount} ${fromToken}`.toLowerCase());
    }),
    { numRuns: 5_000 },
  );
  expect(orders).toBeGreaterThan(500);
});
