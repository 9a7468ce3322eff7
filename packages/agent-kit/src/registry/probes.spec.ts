import { toFunctionSelector } from 'viem';

import { startPaidServer } from '../../../client/test/paid-server.js';
import { expectFailure, useChain, useOpened } from '../../../client/test/set-up.js';
import { kitOf } from '../../test/create-funded-kit.js';
import { AgentKit } from '../agent-kit.js';
import { compoundV2 } from '../protocols/lending/compound-v2.js';
import { uniswapV3Liquidity } from '../protocols/liquidity/uniswap-v3.js';
import { perpsExchange } from '../protocols/perps/perps-exchange.js';
import { liquidStaking } from '../protocols/staking/liquid-staking.js';
import { uniswapV3Swap } from '../protocols/swap/uniswap-v3.js';
import { probeRegistry } from './create-protocol-set.js';
import { DEVNET_CONTRACTS } from './devnet-contracts.js';
import { createDevnetRegistry } from './devnet.js';
import type { ChainRegistry } from './registry.js';

const { tokens, uniswapV3, uniswapV2, lending, staking } = DEVNET_CONTRACTS;
const chainIds = [1328];
const wrappedNative = tokens.WSEI;
const NOBODY = '0x00000000000000000000000000000000000bad01';

const chain = useChain({ protocols: true });
const open = useOpened();

afterEach(() => jest.restoreAllMocks());

const createKit = (changes: Partial<ChainRegistry>, ownTokens: ChainRegistry['tokens'] = []) =>
  kitOf(chain, 0, { tokens: ownTokens, registry: { ...createDevnetRegistry(chain.chainId), ...changes } });

describe('the probes of a registry', () => {
  it('are right for all entries of the devnet', async () => {
    const client = chain.client;
    const results = await probeRegistry(client, createDevnetRegistry(chain.chainId));
    expect(results.filter(({ isRight }) => !isRight)).toEqual([]);
    expect(new Set(results.map(({ entry }) => entry)).size).toBe(6);
  });

  it.each([
    [
      'a router of another factory',
      uniswapV3Swap({ ...uniswapV3, factory: uniswapV2.factory, wrappedNative, chainIds }),
      (kit: AgentKit) => kit.plan('swap', { amount: '1', fromToken: 'USDC', toToken: 'WSEI' }),
      `router.factory() is "${uniswapV3.factory}", and not ${uniswapV2.factory}`,
    ],
    [
      'a quoter that is no contract',
      uniswapV3Swap({ ...uniswapV3, quoter: NOBODY, wrappedNative, chainIds }),
      (kit: AgentKit) => kit.plan('swap', { amount: '1', fromToken: 'USDC', toToken: 'WSEI' }),
      'quoter.factory() gives no answer; quoter.WETH9() gives no answer',
    ],
    [
      'a position manager of another wrapped coin',
      uniswapV3Liquidity({ ...uniswapV3, wrappedNative: tokens.WBTC, chainIds }),
      (kit: AgentKit) => kit.read('getLiquidityPositions', {}),
      `positionManager.WETH9() is "${tokens.WSEI}", and not ${tokens.WBTC}`,
    ],
    [
      'a comptroller that is an oracle',
      compoundV2({ comptroller: lending.oracle, chainIds }),
      (kit: AgentKit) => kit.read('getLendingMarkets', {}),
      'comptroller.getAllMarkets() gives no answer',
    ],
    [
      'a staking contract that is a token',
      liquidStaking({ contract: tokens.USDC, chainIds }),
      (kit: AgentKit) => kit.plan('stake', { amount: '1' }),
      'staking.minimumStake() gives no answer',
    ],
    [
      'an exchange that is a staking contract',
      perpsExchange({ contract: staking, chainIds }),
      (kit: AgentKit) => kit.plan('perpsDeposit', { amount: '1' }),
      'exchange.marginToken() gives no answer',
    ],
  ])('refuse %s before its first use', async (_name, protocol, use, wrong) => {
    await expectFailure(
      use(createKit({ protocols: [protocol] })),
      'PROTOCOL_UNAVAILABLE',
      expect.stringContaining(wrong),
    );
  });

  it.each([
    [{ address: tokens.USDC, symbol: 'USDC', decimals: 18 }, 'USDC', 'USDC.decimals() is "6", and not 18'],
    [{ address: tokens.WBTC, symbol: 'WETH', decimals: 8 }, tokens.WBTC, 'WETH.symbol() is "WBTC", and not WETH'],
    [{ address: NOBODY, symbol: 'USDT', decimals: 6 } as const, 'USDT', 'USDT.decimals() gives no answer'],
  ])('refuse the token %j', async (token, reference, wrong) => {
    const sending = createKit({ tokens: [token] }).plan('transfer', { amount: '1', to: NOBODY, token: reference });
    await expectFailure(sending, 'UNKNOWN_TOKEN', expect.stringContaining(wrong));
  });

  it('refuse to pay in a token that is another one', async () => {
    const server = await open(startPaidServer(chain));
    const kit = createKit({ tokens: [{ address: chain.asset, symbol: 'USDC', decimals: 18 }] });
    await expect(kit.plan('payForResource', { url: server.url })).rejects.toMatchObject({
      code: 'UNKNOWN_TOKEN',
      message: expect.stringContaining('USDC.decimals() is "6", and not 18'),
    });
  });

  it('take the user’s own tokens as they are', async () => {
    const kit = createKit({ tokens: [] }, [{ address: tokens.WBTC, symbol: 'MINE', decimals: 8 }]);
    expect(await kit.getERC20Balance('MINE')).toMatch(/^\d/);
  });

  it('are read once, and again after a node that did not answer', async () => {
    const selector = toFunctionSelector('function WETH9()');
    const { fetch } = globalThis;
    let asked = 0;
    jest.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      if ((init?.body as string).includes(selector) && (asked += 1) === 1) throw new TypeError('fetch failed');
      return fetch(input, init);
    });
    const kit = createKit({});
    await kit.read('getLiquidityPositions', {});
    await kit.read('getLiquidityPositions', {});
    expect(asked).toBe(2);
  });
});
