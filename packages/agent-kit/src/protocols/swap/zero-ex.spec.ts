import { inspect } from 'node:util';

import { encodeFunctionData, type Address } from 'viem';

import { startUpstream } from '../../../../../test/flows/start-upstream.js';
import {
  API_KEY,
  startZeroExStandIn,
  type ZeroExAnswer,
  type ZeroExStandIn,
} from '../../../../../test/harness/agents/zero-ex-stand-in.js';
import { expectFailure, failureOf, useChain } from '../../../../client/test/set-up.js';
import { kitOf } from '../../../test/create-funded-kit.js';
import { DEVNET_CONTRACTS } from '../../registry/devnet-contracts.js';
import { routerAbi } from '../uniswap-v3-pools.js';
import { zeroExSwap, type ZeroExSwapOptions } from './zero-ex.js';

const { tokens, uniswapV3 } = DEVNET_CONTRACTS;
const THIEF: Address = '0x000000000000000000000000000000000000dEaD';

const chain = useChain({ protocols: true });
let server: ZeroExStandIn;
beforeAll(async () => {
  server = await startZeroExStandIn(chain);
});
afterAll(() => server.stop());
beforeEach(() => {
  server.change = (answer) => answer;
});

const kit = (options: Partial<ZeroExSwapOptions> = {}) => {
  const plugin = zeroExSwap({
    apiKey: API_KEY,
    allowedTargets: [uniswapV3.router],
    chainIds: [chain.chainId],
    baseUrl: server.url,
    ...options,
  });
  return kitOf(chain, 0, { plugins: [plugin] });
};

describe('the 0x plugin', () => {
  it.each([
    ['100', 'USDC', 'WBTC'],
    ['0.001', 'WBTC', '0x0'],
    ['10', '0x0', 'USDC'],
  ])('replaces the chain’s own swaps: %s %s for %s', async (amount, fromToken, toToken) => {
    const plan = await kit().plan('swap', { amount, fromToken, toToken });
    expect(plan.preview).toContain('by a route of 0x');
    const result = await kit().swap(amount, fromToken, toToken);
    expect(result).toMatchObject({ status: 'success', amount });
  });

  it('sends the documented paths, headers and fields', async () => {
    server.requests.length = 0;
    await kit().plan('swap', { amount: '10', fromToken: '0x0', toToken: 'USDC', slippageBps: 70 });
    const [price, quote] = server.requests.map(({ url, headers }) => ({
      path: url.split('?')[0],
      query: Object.fromEntries(new URL(url, server.url).searchParams),
      version: headers['0x-version'],
      key: headers['0x-api-key'],
    }));
    const query = {
      chainId: '1328',
      sellToken: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
      buyToken: tokens.USDC,
      sellAmount: '10000000000000000000',
      taker: chain.accounts[0]!.address,
    };
    const headers = { version: 'v2', key: API_KEY };
    expect(price).toEqual({ path: '/swap/allowance-holder/price', query, ...headers });
    const recipient = chain.accounts[0]!.address;
    expect(quote).toEqual({
      path: '/swap/allowance-holder/quote',
      query: { ...query, slippageBps: '70', recipient },
      ...headers,
    });
  });

  const steal = (change: object) =>
    encodeFunctionData({
      abi: routerAbi,
      functionName: 'exactInput',
      args: [
        {
          path: `${tokens.USDC}000bb8${tokens.WBTC.slice(2)}`,
          recipient: THIEF,
          deadline: 2n ** 63n,
          amountIn: 100_000_000n,
          amountOutMinimum: 0n,
          ...change,
        },
      ],
    });
  const inTransaction = (change: object) => (answer: ZeroExAnswer) =>
    answer['transaction'] ? { ...answer, transaction: { ...answer['transaction'], ...change } } : answer;
  const lies: [string, string, (answer: ZeroExAnswer) => ZeroExAnswer][] = [
    ['calls an unlisted contract', 'PROTOCOL_FAILED', inTransaction({ to: THIEF })],
    ['calls the token itself', 'PROTOCOL_FAILED', inTransaction({ to: tokens.USDC })],
    ['pays another account through the trusted contract', 'PROTOCOL_FAILED', inTransaction({ data: steal({}) })],
    ['sends native coin along', 'PROTOCOL_FAILED', inTransaction({ value: '1' })],
    ['has calldata without a function', 'PROTOCOL_FAILED', inTransaction({ data: '0x' })],
    ['has a negative value', 'PROTOCOL_FAILED', inTransaction({ value: '-1' })],
    ['has no transaction', 'PROTOCOL_FAILED', ({ transaction: _, ...answer }) => answer],
    [
      'wants an approval for an unlisted contract',
      'PROTOCOL_FAILED',
      (answer) => ({ ...answer, allowanceTarget: THIEF }),
    ],
    [
      'hides an unlisted contract among its issues',
      'PROTOCOL_FAILED',
      (answer) => ({ ...answer, issues: { allowance: { actual: '0', spender: THIEF } } }),
    ],
    [
      'wants no approval',
      'PROTOCOL_FAILED',
      (answer) => ({ ...answer, allowanceTarget: null, issues: { allowance: null } }),
    ],
    ['sells another token', 'PROTOCOL_FAILED', (answer) => ({ ...answer, sellToken: tokens.WSEI })],
    ['buys another token', 'PROTOCOL_FAILED', (answer) => ({ ...answer, buyToken: tokens.EVIL })],
    ['buys nothing', 'PROTOCOL_FAILED', (answer) => ({ ...answer, buyAmount: '0', minBuyAmount: '0' })],
    ['sells more', 'PROTOCOL_FAILED', (answer) => ({ ...answer, sellAmount: '100000001' })],
    [
      'offers less than the minimum',
      'SLIPPAGE',
      (answer) => (answer['transaction'] ? { ...answer, minBuyAmount: '1' } : answer),
    ],
    [
      'promises more than its calldata pays',
      'SLIPPAGE',
      inTransaction({ data: steal({ amountOutMinimum: 2n ** 200n }) }),
    ],
    [
      'overstates its price',
      'SLIPPAGE',
      (answer) => (answer['transaction'] ? answer : { ...answer, buyAmount: '99999999999999', minBuyAmount: '1' }),
    ],
    ['has no liquidity', 'INSUFFICIENT_LIQUIDITY', () => ({ liquidityAvailable: false, zid: '0x0' })],
    ['has numbers where texts belong', 'PROTOCOL_FAILED', (answer) => ({ ...answer, buyAmount: 1e300 })],
    ['is empty', 'PROTOCOL_FAILED', () => ({})],
    ['is a megabyte', 'PROTOCOL_FAILED', (answer) => ({ ...answer, padding: 'x'.repeat(2_000_000) })],
  ];
  it.each(lies)('does not use an answer that %s', async (_, code, change) => {
    server.change = change;
    const nonce = await chain.nonceOf(chain.accounts[0]!.address);
    const before = await chain.balanceOf(chain.accounts[0]!.address, tokens.USDC);
    await expectFailure(kit().swap('100', 'USDC', 'WBTC'), code);
    expect(await chain.balanceOf(chain.accounts[0]!.address, tokens.USDC)).toBe(before);
    expect(await chain.nonceOf(chain.accounts[0]!.address)).toBe(nonce);
  });

  it('shows its key in no error, even when the server repeats it', async () => {
    const failures = [
      await failureOf(kit({ apiKey: `${API_KEY}-not` }).swap('1', 'USDC', 'WBTC')),
      await failureOf(kit({ baseUrl: 'http://127.0.0.1:2' }).swap('1', 'USDC', 'WBTC')),
    ];
    expect(failures.map(({ code }) => code)).toEqual(['PROTOCOL_FAILED', 'NETWORK_ERROR']);
    expect(failures[0]!.message).toContain('0x refused with status 401: "UNAUTHORIZED: no such key: …"');
    expect(failures[1]!.message).toBe('The network request to 127.0.0.1:2 got no answer (ECONNREFUSED).');
    for (const failure of failures)
      expect(JSON.stringify({ ...failure, text: inspect(failure) })).not.toContain(API_KEY);
  });

  it('follows no redirect, which would send the key along, and waits for no silent server', async () => {
    const elsewhere = await startUpstream((_, response) => response.end('{}'));
    const redirecting = await startUpstream((_, response) =>
      response.writeHead(307, { location: elsewhere.url }).end(),
    );
    const silent = await startUpstream(() => undefined);
    for (const [{ url: baseUrl }, code] of [
      [redirecting, 'PROTOCOL_FAILED'],
      [silent, 'NETWORK_ERROR'],
    ] as const) {
      const failure = await failureOf(kit({ baseUrl, timeoutMs: 300 }).swap('1', 'USDC', 'WBTC'));
      expect(failure.code).toBe(code);
    }
    expect(elsewhere.requests).toEqual([]);
    await Promise.all([elsewhere, redirecting, silent].map((upstream) => upstream.stop()));
  });
});
