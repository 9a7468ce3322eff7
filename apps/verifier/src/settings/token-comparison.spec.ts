import { Logger } from '@nestjs/common';
import { ChainUnavailableError, type StatedDomain } from '@tollgate/chain';
import { nameInFile, type PaymentOption } from '@tollgate/config';
import { hashTokenDomain, type Hex } from '@tollgate/protocol';
import { AcceptedAssets } from '@tollgate/verification';

import { TokenComparison } from './token-comparison.js';

const CHAIN_ID = 1328;
const optionOf = (name: string, asset: Hex, decimals: number, changes: Partial<PaymentOption> = {}): PaymentOption =>
  ({
    ...{
      name,
      entry: name,
      asset,
      decimals,
      domainName: name,
      domainVersion: '1',
      methods: null,
      chain: { name: 'devnet' },
    },
    ...changes,
  }) as PaymentOption;
const usdc = optionOf('usdc', `0x${'11'.repeat(20)}`, 6);
const weth = optionOf('weth', `0x${'22'.repeat(20)}`, 18);
const UNREADY = { outcome: 'unavailable', reason: 'asset_decimals_differ', retryAfterMs: 10_000 };

describe('the tokens of a chain, compared with the settings', () => {
  /** What each token says. */
  let decimals: Map<Hex, bigint | null>;
  let names: Map<Hex, string>;
  let isDown: boolean;
  let errors: jest.SpyInstance;
  let logs: jest.SpyInstance;

  beforeEach(() => {
    jest.useFakeTimers();
    decimals = new Map([
      [usdc.asset, 6n],
      [weth.asset, 18n],
    ]);
    names = new Map();
    isDown = false;
    errors = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    logs = jest.spyOn(Logger.prototype, 'log').mockReturnValue(undefined);
  });
  afterEach(() => {
    jest.useRealTimers();
    errors.mockRestore();
    logs.mockRestore();
  });

  function create(options = [usdc, weth]): TokenComparison {
    const assets = options.map(({ asset, domainName: name, domainVersion: version }) => ({ asset, name, version }));
    const answer = async <T>(value: T): Promise<T> => {
      if (isDown) throw new ChainUnavailableError('rpc_unreachable', 'down');
      return value;
    };
    const stateDomain = (asset: Hex): StatedDomain | null => {
      const name = names.get(asset);
      if (name === undefined) return null;
      const domain = { name, version: '1' };
      return { separator: hashTokenDomain({ asset, chainId: CHAIN_ID, ...domain }), named: domain };
    };
    return new TokenComparison({
      options,
      nameOption: nameInFile,
      assets: new AcceptedAssets(CHAIN_ID, assets),
      chain: {
        readDecimals: (asset) => answer(decimals.get(asset) ?? null),
        readTokenDomain: (asset) => answer(stateDomain(asset)),
      },
      nowMs: Date.now,
    });
  }
  const faultsOf = (tokens: TokenComparison) => [usdc, weth].map((option) => tokens.findFault(option));

  it('make an option ready whose token has its decimals, or none', async () => {
    decimals.set(weth.asset, null);
    const tokens = create();
    expect(() => tokens.assertReady()).toThrow('no token has told its decimals yet');
    await tokens.start();
    expect(faultsOf(tokens)).toEqual([null, null]);
    expect(() => tokens.assertReady()).not.toThrow();
    tokens.onApplicationShutdown();
  });

  it('are compared alike at the start and later: the option whose decimals differ is unready, and recovers', async () => {
    decimals.set(usdc.asset, 18n);
    const tokens = create();
    await tokens.start();
    expect(faultsOf(tokens)).toEqual([UNREADY, null]);
    expect(tokens.readiness).toEqual([
      { option: 'usdc', isReady: false },
      { option: 'weth', isReady: true },
    ]);
    const told = `accepts.usdc.decimals is 6, but the token at ${usdc.asset} has 18. Set it to 18 for gateways and verifiers.`;
    expect(tokens.unready).toEqual([`usdc: asset_decimals_differ: ${told}`]);
    expect(errors.mock.calls).toEqual([[expect.stringContaining(told)]]);
    expect(() => tokens.assertReady()).not.toThrow();

    decimals.set(usdc.asset, 6n);
    await jest.advanceTimersByTimeAsync(60_000);
    expect([faultsOf(tokens), tokens.unready]).toEqual([[null, null], []]);
    expect(tokens.readiness.map(({ isReady }) => isReady)).toEqual([true, true]);
    tokens.onApplicationShutdown();
  });

  it('make the process unready where those of all differ at the start, naming each', async () => {
    decimals = new Map([
      [usdc.asset, 18n],
      [weth.asset, 8n],
    ]);
    const tokens = create();
    await tokens.start();
    expect(() => tokens.assertReady()).toThrow(/^usdc: asset_decimals_differ: .* weth: asset_decimals_differ: /);
    decimals.set(weth.asset, 18n);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(() => tokens.assertReady()).not.toThrow();
    tokens.onApplicationShutdown();
  });

  it('make the option whose decimals change unready within a minute, and no other, until they are right again', async () => {
    const tokens = create();
    await tokens.start();
    decimals.set(weth.asset, 8n);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(faultsOf(tokens)).toEqual([null, UNREADY]);
    expect(tokens.unready).toEqual([
      expect.stringMatching(/^weth: asset_decimals_differ: accepts\.weth\.decimals is 18, but .* has 8\./),
    ]);
    expect(() => tokens.assertReady()).not.toThrow();
    await jest.advanceTimersByTimeAsync(120_000);
    expect(errors.mock.calls).toEqual([[expect.stringContaining(`no question about ${weth.asset} is answered`)]]);

    decimals.set(weth.asset, 18n);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(faultsOf(tokens)).toEqual([null, null]);
    expect(tokens.unready).toEqual([]);
    expect(logs.mock.calls).toEqual([[expect.stringContaining(`questions about ${weth.asset} are answered again`)]]);
    tokens.onApplicationShutdown();
  });

  it('compare a token once, however many accounts it is paid to', async () => {
    const branch = { ...weth, name: 'weth 0xd' };
    decimals.set(weth.asset, 8n);
    const tokens = create([weth, branch]);
    await tokens.compare();
    expect([weth, branch].map((option) => tokens.findFault(option))).toEqual([UNREADY, UNREADY]);
    expect(tokens.unready).toHaveLength(1);
  });

  it('make the process unready with its last option', async () => {
    const tokens = create([weth]);
    await tokens.start();
    decimals.set(weth.asset, 8n);
    await tokens.compare();
    expect(() => tokens.assertReady()).toThrow('accepts.weth.decimals is 18');
    tokens.onApplicationShutdown();
  });

  it('are not judged in before the chain was up, and stay as they were while it is down again', async () => {
    isDown = true;
    const tokens = create();
    await tokens.start();
    const untold = { outcome: 'unavailable', reason: 'asset_decimals_unknown', retryAfterMs: 1_000 };
    expect([faultsOf(tokens), tokens.takesAuthorizations(usdc)]).toEqual([[untold, untold], undefined]);
    decimals.set(weth.asset, 8n);
    isDown = false;
    await jest.advanceTimersByTimeAsync(1_000);
    expect(faultsOf(tokens)).toEqual([null, UNREADY]);
    isDown = true;
    await jest.advanceTimersByTimeAsync(120_000);
    expect(faultsOf(tokens)).toEqual([null, UNREADY]);
    tokens.onApplicationShutdown();
  });

  it('take no authorization of the option whose domain changes, and all of the other', async () => {
    const tokens = create();
    names.set(usdc.asset, 'usdc');
    await tokens.start();
    const takes = () => [usdc, weth].map((option) => tokens.takesAuthorizations(option));
    expect([takes(), tokens.misnamed]).toEqual([[true, true], []]);
    names.set(usdc.asset, 'USD Coin');
    await jest.advanceTimersByTimeAsync(60_000);
    expect(takes()).toEqual([false, true]);
    expect(faultsOf(tokens)).toEqual([null, null]);
    expect(tokens.misnamed).toEqual([
      `${usdc.asset}: the settings (accepts.usdc.name, accepts.usdc.version) name its EIP-712 domain "usdc" version "1", and its contract "USD Coin" version "1". Set what the contract says for gateways and verifiers.`,
    ]);
    names.set(usdc.asset, 'usdc');
    await jest.advanceTimersByTimeAsync(60_000);
    expect([takes(), tokens.misnamed]).toEqual([[true, true], []]);
    tokens.onApplicationShutdown();
  });

  it('take no authorization of the option whose domain is another one at start, and start all the same', async () => {
    names.set(weth.asset, 'Wrapped Ether');
    const tokens = create();
    await tokens.start();
    expect([usdc, weth].map((option) => tokens.takesAuthorizations(option))).toEqual([true, false]);
    expect(() => tokens.assertReady()).not.toThrow();
    expect(errors.mock.calls).toEqual([
      [expect.stringContaining(`no EIP-3009 authorization is taken for ${weth.asset}`)],
    ]);
    tokens.onApplicationShutdown();
  });

  it('report no domain of an option that is not paid by EIP-3009', async () => {
    names.set(weth.asset, 'Wrapped Ether');
    const tokens = create([{ ...weth, methods: ['transfer', 'permit2'] }]);
    await tokens.compare();
    expect(tokens.misnamed).toEqual([]);
    expect(errors).not.toHaveBeenCalled();
  });
});
