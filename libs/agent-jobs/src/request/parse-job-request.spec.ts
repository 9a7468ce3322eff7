import { WRITE_OPERATIONS } from '@tollgate/agent-kit/operations';
import { AGENT_OPERATIONS, type AgentOperation } from '@tollgate/protocol';
import fc from 'fast-check';
import { zeroAddress } from 'viem';
import { z } from 'zod';

import { CATALOG } from '../../../../packages/agent-kit/src/operations/catalog.js';
import { parseResourceUrl } from '../../../../packages/agent-kit/src/payments/ask-price.js';
import { assertLeverage } from '../../../../packages/agent-kit/src/protocols/perps/assert-order.js';
import { fingerprintOfJob } from '../views/digests.js';
import { describeInputs } from './job-inputs.js';
import { JobRequestError, parseJobRequest } from './parse-job-request.js';

const CHECKSUMMED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const TO = CHECKSUMMED.toLowerCase();

describe('parseJobRequest', () => {
  it('knows every operation of the kit that sends a transaction, and no other', () => {
    const writes = CATALOG.filter(({ readOnly }) => !readOnly).map(({ name }) => name);
    expect([...AGENT_OPERATIONS].sort()).toEqual(writes.map(ofJob).sort());
  });

  describe.each(AGENT_OPERATIONS)('%s', (operation) => {
    const schema = schemaOf(operation);

    it('accepts the same inputs as the kit, with the same result, and refuses the same', () => {
      const verdicts = { taken: 0, refused: 0 };
      fc.assert(
        fc.property(inputsLike(schema), (input) => {
          const kit = askKit(operation, input);
          const ours = ask(operation, input);
          expect(ours).toEqual(kit);
          verdicts[kit === null ? 'refused' : 'taken'] += 1;
        }),
        { numRuns: 400 },
      );
      expect(verdicts.taken).toBeGreaterThan(0);
      expect(verdicts.refused).toBeGreaterThan(0);
    });

    it('has the same fields as the kit, and the same ones are required', () => {
      const kit = z.toJSONSchema(schema, { io: 'input' });
      const { properties, required = [] } = describeInputs()[operation] as { properties: object; required?: string[] };
      expect(Object.keys(properties).sort()).toEqual(Object.keys(kit.properties ?? {}).sort());
      expect([...required].sort()).toEqual([...(kit.required ?? [])].sort());
    });
  });

  it('lists every problem, each with its field', () => {
    const body = { operation: 'transfer', wallet: 'no wallet', input: { amount: '-1', token: '' }, nonce: 7 };
    expect(problemsOf(body)).toMatchInlineSnapshot(`
      [
        "nonce must be omitted: the worker sets it",
        "wallet must be a wallet's name: 1 to 64 letters, digits or ._-",
        "input.amount must be a decimal amount above 0 as text, for example "1.5"",
        "input.to must be an address other than zero: 0x and 40 hexadecimal digits, with a valid checksum if it has capitals",
        "input.token must be a token: 0x0 for the native one, a contract address, or a symbol of the token list, 1 to 64 characters; it may be omitted",
      ]
    `);
  });

  it.each([
    ['nonce', 1],
    ['from', TO],
    ['gas', '21000'],
    ['gasPrice', '1'],
    ['maxFeePerGas', '1'],
    ['rawTx', '0x02'],
    ['rawTransaction', '0x02'],
    ['chainId', 1],
    ['data', '0x'],
  ])('leaves %s to the worker, in the body and in the inputs', (name, value) => {
    const input = { amount: '1', to: TO };
    expect(problemsOf({ operation: 'transfer', wallet: 'main', input, [name]: value })).toEqual([
      `${name} must be omitted: the worker sets it`,
    ]);
    expect(problemsOf({ operation: 'transfer', wallet: 'main', input: { ...input, [name]: value } })).toEqual([
      `input.${name} must be omitted: the worker sets it`,
    ]);
  });

  it.each([
    ['-1'],
    ['NaN'],
    ['1e18'],
    ['Infinity'],
    ['0x10'],
    ['1,5'],
    [' 1'],
    ['1\n'],
    ['.5'],
    ['0'],
    ['0.000'],
    ['9'.repeat(335)],
    [1],
    [null],
    [['1']],
    [{ toString: '1' }],
  ])('refuses the amount %j', (amount) => {
    expect(problemsOf({ operation: 'stake', wallet: 'main', input: { amount } })).toEqual([
      'input.amount must be a decimal amount above 0 as text, for example "1.5"',
    ]);
  });

  it.each([
    ['transfer', { amount: '1', to: zeroAddress }, 'to', 'an address other than zero'],
    ['approve', { token: 'USDC', amount: '0', spender: zeroAddress }, 'spender', 'an address other than zero'],
    ['mintERC721', { contractAddress: TO, tokenId: '1', to: zeroAddress }, 'to', 'an address other than zero'],
    ['transferERC721', { contractAddress: zeroAddress, tokenId: '1', to: TO }, 'contractAddress', 'an address'],
    [
      'perpsOpenPosition',
      { product: 'BTC-PERP', side: 'long', amount: '1', leverage: 25 },
      'leverage',
      'a whole number from 1 to 20; it may be omitted',
    ],
  ])('refuses %s of %j', (operation, input, field, expectation) => {
    expect(problemsOf({ operation, wallet: 'main', input })).toEqual([
      expect.stringContaining(`input.${field} must be ${expectation}`),
    ]);
  });

  // More than 256 bits or than the token's decimals depends on the token.
  it.each([(2n ** 256n).toString(), `0.${'0'.repeat(39)}1`])('accepts the amount %s', (amount) => {
    expect(parseJobRequest({ operation: 'stake', wallet: 'main', input: { amount } }).input).toEqual({ amount });
  });

  it.each(['ftp://example.com/', 'file:///etc/passwd', 'https://me:secret@example.com/', 'example.com', ''])(
    'refuses a payment to %j',
    (url) => {
      expect(problemsOf({ operation: 'payment', wallet: 'main', input: { url } })).toHaveLength(1);
    },
  );

  it.each([undefined, null, true, 7, 'transfer', [], [{ operation: 'stake' }]])('refuses %j as a job', (body) => {
    expect(problemsOf(body)).toEqual(['the body must be a JSON object with operation, wallet and input']);
  });

  it('reads no inherited property, and calls no getter', () => {
    const inherited: unknown = Object.create({ operation: 'stake', wallet: 'main', input: { amount: '1' } });
    expect(problemsOf(inherited)).toHaveLength(3);
    const trap = Object.defineProperty({}, 'amount', { get: () => '1', enumerable: true });
    expect(problemsOf({ operation: 'stake', wallet: 'main', input: trap })).toHaveLength(1);
  });

  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'isPrototypeOf'])(
    'refuses the unknown field %s and changes no prototype through it',
    (name) => {
      const input: unknown = JSON.parse(`{"amount":"1","${name}":{"polluted":true}}`);
      expect(problemsOf({ operation: 'stake', wallet: 'main', input })).toEqual([
        `input.${name} is not a field of stake, which has amount`,
      ]);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
  );

  it('reports a bounded number of problems for any input', () => {
    const names = Array.from({ length: 5_000 }, (_, index) => [`${'x'.repeat(500)}\u202e${index}`, 'y'.repeat(1_000)]);
    const problems = problemsOf({ operation: 'stake', wallet: 'main', input: Object.fromEntries(names) });
    expect(problems).toHaveLength(51);
    expect(problems.at(-1)).toBe('and 4951 more problems');
    expect(problems.join('').length).toBeLessThan(10_000);
    expect(problems.join('')).not.toContain('\u202e');
    const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(problemsOf({ operation: 'stake', wallet: 'main', input: { amount: deep } })).toHaveLength(1);
  });

  it('repeats no value, which may be a secret that was pasted into the wrong field', () => {
    const secret = `0x${'ab'.repeat(32)}`;
    const inputs = { amount: secret, to: secret, token: [secret], privateKey: secret };
    const problems = problemsOf({ operation: secret, wallet: `${secret} `, input: inputs, secret });
    const ofInputs = problemsOf({ operation: 'transfer', wallet: 'main', input: inputs });
    expect([...problems, ...ofInputs].join('\n')).not.toContain('abab');
  });
});

describe('fingerprintOf', () => {
  const fingerprint = (body: unknown): string => fingerprintOfJob(parseJobRequest(body));

  it('is the same for the same request, in any order and spelling', () => {
    const input = { amount: '1', fromToken: 'A', toToken: 'B', slippageBps: 50 };
    const reordered = { slippageBps: '0050', toToken: 'B', fromToken: 'A', amount: '1' };
    const one = fingerprint({ operation: 'swap', wallet: 'main', input });
    expect(fingerprint({ input: reordered, wallet: 'main', operation: 'swap' })).toBe(one);
    expect(one).toMatch(/^[0-9a-f]{64}$/);
  });

  it('differs for different wallets, operations and inputs', () => {
    const input = { amount: '1' };
    const bodies = [
      { operation: 'stake', wallet: 'main', input },
      { operation: 'unstake', wallet: 'main', input },
      { operation: 'stake', wallet: 'other', input },
      { operation: 'stake', wallet: 'main', input: { amount: '2' } },
    ];
    expect(new Set(bodies.map(fingerprint)).size).toBe(bodies.length);
  });
});

function ofJob(name: string): string {
  return name === 'payForResource' ? 'payment' : name;
}

/** A job buys the answer to a GET, and the kit that to any request. */
function schemaOf(operation: AgentOperation): z.ZodObject {
  if (operation === 'payment') return WRITE_OPERATIONS.payment.input;
  return CATALOG.find(({ name }) => ofJob(name) === operation)!.input;
}

function ask(operation: string, input: unknown): unknown {
  try {
    return parseJobRequest({ operation, wallet: 'main', input }).input;
  } catch (error) {
    expect(error).toBeInstanceOf(JobRequestError);
    return null;
  }
}

/** The kit's result; the kit reads a payment's URL and a leverage only when it makes the plan. */
function askKit(operation: AgentOperation, input: unknown): unknown {
  const result = schemaOf(operation).strict().safeParse(input);
  if (!result.success) return null;
  try {
    if (operation === 'payment') parseResourceUrl(String(result.data['url']), true);
    // These have an error code of their own.
    if (operation === 'perpsOpenPosition') assertLeverage(Number(result.data['leverage'] ?? 1));
  } catch {
    return null;
  }
  return result.data;
}

function problemsOf(body: unknown): readonly string[] {
  try {
    parseJobRequest(body);
  } catch (error) {
    if (error instanceof JobRequestError) return error.problems;
    throw error;
  }
  throw new Error('It was taken.');
}

/** Values at the limits of the fields. */
const VALUES: readonly unknown[] = [
  ...['1', '1.5', '0', '0.0', '00.10', '1.', '.1', '1e3', '-1', '+1', 'MAX', 'max', '٣', '1\n'],
  ...['9'.repeat(78), '9'.repeat(79), '9'.repeat(334), '9'.repeat(335), (2n ** 256n - 1n).toString()],
  ...[(2n ** 256n).toString(), '007', '100', '101', '5000', '5001', '999999999', '1000000000'],
  ...['20', '21', 20, 21, zeroAddress],
  ...[0, -0, 1, 100, 101, 5000, 5001, 1_000_000, 1_000_001, 2 ** 53 - 1, 2 ** 53, 1.5, -1],
  ...[TO, CHECKSUMMED, CHECKSUMMED.replace('aA', 'Aa'), TO.toUpperCase(), TO.slice(1), `${TO}0`, '0x0'],
  ...['long', 'short', 'Long', '', 'x'.repeat(64), 'x'.repeat(65), '\ud800', null, true, [], ['1'], {}, [[]]],
  ...['https://example.com/a', 'http://127.0.0.1/', 'https://u:p@example.com/', 'ftp://example.com', 'https://'],
  ...[`https://example.com/${'a'.repeat(2028)}`, `https://example.com/${'a'.repeat(2029)}`],
];

const anyJson = fc.jsonValue();

/** Mostly valid inputs, some with a field that is missing, invalid or unknown. */
function inputsLike(schema: z.ZodObject): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(schema.shape).map(([name, field]) => {
    const right = VALUES.filter((value) => (field as z.ZodType).safeParse(value).success);
    const value = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...right) }, fc.constantFrom(...VALUES), anyJson);
    return [name, value] as const;
  });
  const stranger = fc.tuple(fc.constantFrom('nonce', 'from', 'gas', 'extra', 'constructor', 'Amount'), anyJson);
  return fc
    .tuple(
      fc.record(Object.fromEntries(fields), { requiredKeys: [] }),
      fc.record(Object.fromEntries(fields)),
      fc.nat(9),
      stranger,
    )
    .map(([partial, whole, dice, [name, value]]) => {
      if (dice === 0) return { ...whole, [name]: value };
      return dice < 3 ? partial : whole;
    });
}
