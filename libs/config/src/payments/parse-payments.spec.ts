import { ConfigurationError } from '../configuration-error.js';
import { parsePayments } from './parse-payments.js';

const SHOP = `0x${'5A'.repeat(20)}`;
const WETH = '0x4200000000000000000000000000000000000006';

/** A file that is valid apart from these lines of one option. */
const optionOf = (...lines: string[]): string => {
  const given = new Set(lines.map((line) => line.split(':')[0]));
  const right = ['chain: base', 'token: USDC', `payTo: '${SHOP}'`].filter((line) => !given.has(line.split(':')[0]));
  return `chains:\n  base: { rpc: 'https://rpc.example' }\naccepts:\n  one:\n    ${[...right, ...lines].join('\n    ')}\n`;
};

function problemsOf(text: string): readonly string[] {
  try {
    parsePayments(text, { PAY: SHOP, EMPTY: '' });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as ConfigurationError).problems;
  }
  return [];
}

describe('a payments file', () => {
  // Ids, addresses and EIP-712 names: Circle's list of USDC contracts and the chain registry.
  it('describes a token of a known chain by its symbol', () => {
    const { options } = parsePayments(
      `{ chains: { base: { rpc: '\${BASE_RPC_URL}', confirmations: 3 } }, accepts: { one: { chain: base, token: USDC, payTo: '\${PAY}' } } }`,
      { PAY: SHOP },
    );
    const chain = expect.objectContaining({ name: 'base', id: 8453, network: 'base' }) as unknown;
    expect(options[0]).toEqual({
      name: 'one',
      entry: 'one',
      chain,
      payTo: SHOP.toLowerCase(),
      asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      symbol: 'USDC',
      decimals: 6,
      domainName: 'USD Coin',
      domainVersion: '2',
      rate: '1',
      methods: null,
    });
    const explorer = 'https://basescan.org';
    expect(options[0]?.chain).toMatchObject({ name: 'base', confirmations: 3, explorer, rpc: ['${BASE_RPC_URL}'] });
  });

  it('describes any other token by its address and decimals, on any chain by its id and network', () => {
    const { options } = parsePayments(
      `chains:
  devnet: { id: 31337, network: devnet, rpc: ['http://one', 'http://two'], relayers: 0x${'7E'.repeat(32)} }
accepts:
  coin: { chain: devnet, token: 0x${'C0'.repeat(20)}, decimals: 18, name: Dev Coin, version: 3, payTo: ${SHOP} }
`,
      {},
    );
    expect(options[0]).toMatchObject({ asset: `0x${'c0'.repeat(20)}`, decimals: 18, symbol: 'TOKEN' });
    expect(options[0]).toMatchObject({ domainName: 'Dev Coin', domainVersion: '3' });
    expect(options[0]?.chain).toMatchObject({
      id: 31_337,
      network: 'devnet',
      rpc: ['http://one', 'http://two'],
      relayers: `0x${'7E'.repeat(32)}`,
      explorer: null,
    });
  });

  it('describes several tokens of several chains, each with its rate and its methods, in the order of the file', () => {
    const { chains, options } = parsePayments(
      `chains: { base: , sei: , polygon: }
accepts:
  usdc-sei: { chain: sei, token: USDC, payTo: ${SHOP} }
  weth-base: { chain: base, token: ${WETH}, decimals: 18, rate: 0.00026, methods: [permit2, transfer], payTo: ${SHOP} }
  usdc-base: { chain: base, token: USDC, payTo: ${SHOP} }
`,
      {},
    );
    expect(options.map(({ name, chain, rate, methods }) => [name, chain.id, rate, methods])).toEqual([
      ['usdc-sei', 1329, '1', null],
      ['weth-base', 8453, '0.00026', ['permit2', 'transfer']],
      ['usdc-base', 8453, '1', null],
    ]);
    expect(chains.map(({ name }) => name)).toEqual(['sei', 'base']);
  });

  it('takes several recipients of one token as options of their own', () => {
    const other = `0x${'6b'.repeat(20)}`;
    const { options } = parsePayments(optionOf(`payTo: ['${SHOP}', '\${OTHER}']`), { OTHER: other });
    expect(options.map(({ name, entry, payTo }) => [name, entry, payTo])).toEqual([
      ['one', 'one', SHOP.toLowerCase()],
      [`one ${other}`, 'one', other],
    ]);
    expect(problemsOf(optionOf(`payTo: ['${SHOP}', '${SHOP.toLowerCase()}']`))).toEqual([
      expect.stringMatching(/^accepts\.one\.payTo \(line \d\): lists an account twice\.$/),
    ]);
    expect(problemsOf(optionOf('payTo: []'))).toEqual([
      expect.stringMatching(/must be an address in quotes, or a list/),
    ]);
  });

  it('says of each chain what wallets and pages show: its name, coin and a public server', () => {
    const { options } = parsePayments(
      `chains:
  polygon: { title: Polygon PoS, walletRpc: 'https://rpc.example/polygon' }
  devnet: { id: 31337, network: devnet }
  other: { id: 31338, network: other, coin: XYZ }
accepts:
  one: { chain: polygon, token: USDC, payTo: ${SHOP} }
  two: { chain: devnet, token: ${WETH}, decimals: 18, payTo: ${SHOP} }
  three: { chain: other, token: ${WETH}, decimals: 18, payTo: ${SHOP} }
`,
      {},
    );
    expect(options.map(({ chain: { title, coin, walletRpc } }) => [title, coin, walletRpc])).toEqual([
      ['Polygon PoS', 'POL', 'https://rpc.example/polygon'],
      [null, 'ETH', null],
      [null, 'XYZ', null],
    ]);
  });

  it.each([
    [
      'a server with a password',
      "walletRpc: 'https://me:secret@rpc.example'",
      'walletRpc',
      'must be an http or https URL without user name and password: every visitor can read it',
    ],
    [
      'a server with a variable',
      "walletRpc: '${RPC_URL}'",
      'walletRpc',
      'must be an http or https URL without user name and password: every visitor can read it',
    ],
    [
      'a server of another kind',
      "walletRpc: 'wss://rpc.example'",
      'walletRpc',
      'must be an http or https URL without user name and password: every visitor can read it',
    ],
    ['a coin with a space', "coin: 'E H'", 'coin', 'must be 2 to 6 letters or digits'],
    ['an empty title', "title: ''", 'title', 'must be 1 to 60 visible characters'],
  ])('is refused for %s', (_what, line, key, problem) => {
    const text = `chains:\n  base: { ${line} }\naccepts:\n  one: { chain: base, token: USDC, payTo: '${SHOP}' }\n`;
    expect(problemsOf(text)).toEqual([`chains.base.${key} (line 2): ${problem}.`]);
  });

  it.each([
    ['a list', '- base', 'The file must have "chains:" and "accepts:".'],
    ['an unknown section', 'chain: {}', 'chain (line 1): is unknown; did you mean "chains"?'],
  ])('is refused for %s', (_what, text, problem) => {
    expect(problemsOf(text)).toContain(problem);
  });

  it.each([
    [
      'an unknown chain',
      ['chain: bsae'],
      'accepts.one.chain (line 7): names no chain of this file; did you mean "base"?',
    ],
    [
      'an unknown token',
      ['token: USCD'],
      'accepts.one.token (line 7): is no known token of base; did you mean "USDC"? Or write its address, and decimals.',
    ],
    ['a token without decimals', [`token: ${WETH}`], /^accepts\.one\.decimals \(line \d\): is missing/],
    [
      'no recipient',
      ['payTo: ${EMPTY}'],
      /payTo \(line \d\): needs the environment variable EMPTY, which is not set\.$/,
    ],
    ['the zero address', [`payTo: 0x${'0'.repeat(40)}`], /payTo \(line \d\): must be 0x and 40 hexadecimal digits/],
    [
      'the token as the recipient',
      ["payTo: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'"],
      /payTo \(line \d\): is the token itself/,
    ],
    ['a rate of 0', ['rate: 0'], 'accepts.one.rate (line 8): must be a decimal number above 0 such as 0.00026.'],
    ['a negative rate', ['rate: -1'], 'accepts.one.rate (line 8): must be a decimal number above 0 such as 0.00026.'],
    ['a rate that is no number', ['rate: 1e3x'], /^accepts\.one\.rate \(line 8\): must be a decimal number/],
    ['an unknown method', ['methods: [permit3]'], 'accepts.one.methods (line 8): may be transfer, eip3009, permit2.'],
    [
      'no transfer',
      ['methods: [permit2]'],
      'accepts.one.methods (line 8): must list transfer: the documented challenge asks for one.',
    ],
    ['no method', ['methods: []'], 'accepts.one.methods (line 8): must list at least one method.'],
    ['an unknown key', ['decimal: 6'], 'accepts.one.decimal (line 8): is unknown; did you mean "decimals"?'],
  ] as [string, string[], string | RegExp][])('is refused for %s', (_what, lines, problem) => {
    const [only, ...others] = problemsOf(optionOf(...lines));
    expect(others).toEqual([]);
    if (typeof problem === 'string') expect(only).toBe(problem);
    else expect(only).toMatch(problem);
  });

  it('is refused without a word of what it holds where it is no YAML', () => {
    const secret = `0x${'7e'.repeat(32)}`;
    const wrong = [`chains:\n  base: { relayers: '${secret}' } ${secret}\n`, `chains: {}\n${secret}\n`];
    for (const text of wrong) {
      const problems = problemsOf(text);
      expect(problems).not.toEqual([]);
      expect(problems.join()).not.toContain(secret);
    }
  });

  it("is refused for another option's token as the recipient, on the chain of that token", () => {
    const usdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913';
    const text = `chains: { base: , sei: }
accepts:
  usdc-base: { chain: base, token: USDC, payTo: '${WETH}' }
  weth-base: { chain: base, token: '${WETH}', decimals: 18, payTo: '${SHOP}' }
  usdc-sei: { chain: sei, token: USDC, payTo: '${usdc}' }
`;
    expect(problemsOf(text)).toEqual([
      'accepts.usdc-base.payTo (line 3): is the token of "weth-base", so payments to it would be lost.',
    ]);
  });

  it('is refused for two options of one token, two names of one chain or network, and a chain that nothing knows', () => {
    const text = `chains:
  base: {}
  again: { id: 8453, network: base }
  bases: { rpc: 'http://x' }
  sei: { id: 1 }
  mine: { id: 7, network: base }
accepts:
  one: { chain: base, token: USDC, payTo: '${SHOP}' }
  two: { chain: base, token: 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913, payTo: '${SHOP}' }
`;
    expect(problemsOf(text)).toEqual([
      'chains.again (line 3): is chain 8453, like "base".',
      'chains.bases (line 4): is no known chain; did you mean "base"? Any other chain needs id and network.',
      'chains.sei.id (line 5): is not that of sei, which is 1329.',
      'chains.mine (line 6): has the network "base", like "base".',
      'accepts.two (line 9): is the same token and chain as "one".',
    ]);
  });
});
