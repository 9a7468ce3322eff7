import { erc20Abi, maxUint256, parseAbi, parseEther, parseEventLogs, parseUnits, type Address } from 'viem';

import { createTrader, type Trader } from '../../../test/harness/agents/trader.js';
import { startChain, type DevnetWithProtocols } from '../chain/chain.js';
import { callRpc } from '../processes/json-rpc.js';
import { setPrice } from './set-price.js';

const lendingAbi = parseAbi([
  'function mint(uint256 amount) returns (uint256 code)',
  'function redeem(uint256 tokens) returns (uint256 code)',
  'function redeemUnderlying(uint256 amount) returns (uint256 code)',
  'function borrow(uint256 amount) returns (uint256 code)',
  'function repayBorrow(uint256 amount) returns (uint256 code)',
  'function liquidateBorrow(address borrower, uint256 amount, address collateral) returns (uint256 code)',
  'function balanceOf(address owner) view returns (uint256)',
  'function borrowBalanceStored(address account) view returns (uint256)',
  'function exchangeRateStored() view returns (uint256)',
  'function getCash() view returns (uint256)',
  'function underlying() view returns (address)',
  'function enterMarkets(address[] markets) returns (uint256[] codes)',
  'function getAllMarkets() view returns (address[])',
  'function getAccountLiquidity(address account) view returns (uint256 code, uint256 liquidity, uint256 shortfall)',
  'function markets(address market) view returns (bool isListed, uint256 collateralFactorMantissa, bool isComped)',
  'function getUnderlyingPrice(address market) view returns (uint256)',
  'function setPrice(string asset, uint256 price)',
  'error OwnableUnauthorizedAccount(address account)',
  'event Failure(uint256 code, uint256 info, uint256 detail)',
]);

const usd = (amount: string) => parseUnits(amount, 6);

describe('lending on the devnet', () => {
  let chain: DevnetWithProtocols;
  let trader: Trader;
  let other: Trader;
  let snapshot: unknown;

  beforeAll(async () => {
    chain = await startChain({ protocols: true });
    trader = createTrader(chain, 0);
    other = createTrader(chain, 1);
    const { tokens, lending } = chain.contracts;
    for (const account of [trader, other]) {
      for (const symbol of ['USDC', 'WSEI', 'WBTC'] as const) {
        const approve = {
          abi: erc20Abi,
          functionName: 'approve',
          args: [lending.markets[symbol], maxUint256],
        } as const;
        await account.mined(account.writeContract({ ...approve, address: tokens[symbol] }));
      }
    }
  });

  beforeEach(async () => {
    snapshot = await callRpc(chain.rpcUrl, 'evm_snapshot');
  });

  afterEach(async () => {
    await callRpc(chain.rpcUrl, 'evm_revert', [snapshot]);
  });

  afterAll(async () => {
    await chain.stop();
  });

  const market = (symbol: 'USDC' | 'WSEI' | 'WBTC') =>
    ({ address: chain.contracts.lending.markets[symbol], abi: lendingAbi }) as const;
  const comptroller = () => ({ address: chain.contracts.lending.comptroller, abi: lendingAbi }) as const;
  const balanceOf = (owner: Trader, token: Address) =>
    owner.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [owner.address] });
  /** Mines with success in every case; the number of its `Failure` events shows whether it had an effect. */
  const failures = async (
    account: Trader,
    symbol: 'USDC' | 'WSEI' | 'WBTC',
    functionName: 'mint' | 'redeem' | 'redeemUnderlying' | 'borrow' | 'repayBorrow',
    amount: bigint,
  ) => {
    // A gas limit of its own: an estimate is too low once interest accrues in the block between.
    const receipt = await account.mined(
      account.writeContract({ ...market(symbol), functionName, args: [amount], gas: 2_000_000n }),
    );
    return parseEventLogs({ abi: lendingAbi, eventName: 'Failure', logs: receipt.logs });
  };
  const enter = (account: Trader, symbol: 'USDC' | 'WSEI' | 'WBTC') =>
    account.mined(
      account.writeContract({ ...comptroller(), functionName: 'enterMarkets', args: [[market(symbol).address]] }),
    );
  const liquidityOf = (account: Trader) =>
    account.readContract({ ...comptroller(), functionName: 'getAccountLiquidity', args: [account.address] });

  it('lists three markets with their collateral factors, prices, cash to borrow and a rate that is in use', async () => {
    const { tokens, lending } = chain.contracts;
    const markets = await trader.readContract({ ...comptroller(), functionName: 'getAllMarkets' });
    expect(markets).toEqual(Object.values(lending.markets));
    for (const [symbol, factor, price, cash] of [
      ['USDC', '0.8', 10n ** 30n, usd('3200000')],
      ['WSEI', '0.6', 10n ** 18n / 2n, parseEther('3200000')],
      ['WBTC', '0.6', 60_000n * 10n ** 28n, parseUnits('40', 8)],
    ] as const) {
      expect(await trader.readContract({ ...market(symbol), functionName: 'underlying' })).toBe(tokens[symbol]);
      expect(await trader.readContract({ ...market(symbol), functionName: 'getCash' })).toBe(cash);
      const args = [market(symbol).address] as const;
      const listing = await trader.readContract({ ...comptroller(), functionName: 'markets', args });
      expect(listing.slice(0, 2)).toEqual([true, parseEther(factor)]);
      const oracle = { address: lending.oracle, abi: lendingAbi } as const;
      expect(await trader.readContract({ ...oracle, functionName: 'getUnderlyingPrice', args })).toBe(price);
    }
  });

  it('supplies, borrows, repays with interest and redeems', async () => {
    const { tokens } = chain.contracts;
    expect(await failures(trader, 'USDC', 'mint', usd('10000'))).toEqual([]);
    await enter(trader, 'USDC');
    const [, liquidity] = await liquidityOf(trader);
    expect(liquidity).toBeGreaterThan(parseEther('7999.99'));
    expect(liquidity).toBeLessThanOrEqual(parseEther('8000'));

    const before = await balanceOf(trader, tokens.WSEI);
    expect(await failures(trader, 'WSEI', 'borrow', parseEther('4000'))).toEqual([]);
    expect((await balanceOf(trader, tokens.WSEI)) - before).toBe(parseEther('4000'));
    await callRpc(chain.rpcUrl, 'anvil_mine', ['0x3e8']);

    // All of the debt, whatever it has grown to.
    expect(await failures(trader, 'WSEI', 'repayBorrow', maxUint256)).toEqual([]);
    expect(before - (await balanceOf(trader, tokens.WSEI))).toBeGreaterThan(0n);
    const debt = { functionName: 'borrowBalanceStored', args: [trader.address] } as const;
    expect(await trader.readContract({ ...market('WSEI'), ...debt })).toBe(0n);

    const usdcBefore = await balanceOf(trader, tokens.USDC);
    const args = [trader.address] as const;
    const shares = await trader.readContract({ ...market('USDC'), functionName: 'balanceOf', args });
    expect(await failures(trader, 'USDC', 'redeem', shares)).toEqual([]);
    expect((await balanceOf(trader, tokens.USDC)) - usdcBefore).toBeGreaterThanOrEqual(usd('10000'));
  });

  it('mines a borrow beyond the limit with success, a Failure event and nothing lent', async () => {
    await failures(trader, 'USDC', 'mint', usd('1000'));
    await enter(trader, 'USDC');
    const before = await balanceOf(trader, chain.contracts.tokens.WSEI);
    const simulated = await trader.simulateContract({
      ...market('WSEI'),
      functionName: 'borrow',
      args: [parseEther('1601')],
    });
    // COMPTROLLER_REJECTION, for the reason INSUFFICIENT_LIQUIDITY.
    expect(simulated.result).toBe(3n);
    const [failure] = await failures(trader, 'WSEI', 'borrow', parseEther('1601'));
    expect(failure?.args).toMatchObject({ code: 3n, detail: 4n });
    expect(await balanceOf(trader, chain.contracts.tokens.WSEI)).toBe(before);
    expect(await failures(trader, 'USDC', 'redeemUnderlying', usd('1001'))).toHaveLength(1);
  });

  it('follows the oracle, whose prices only its owner sets: a fall of the collateral opens the debt to liquidation', async () => {
    const { lending } = chain.contracts;
    await failures(trader, 'WBTC', 'mint', parseUnits('1', 8));
    await enter(trader, 'WBTC');
    expect(await failures(trader, 'USDC', 'borrow', usd('35000'))).toEqual([]);
    const liquidate = { ...market('USDC'), functionName: 'liquidateBorrow', gas: 2_000_000n } as const;
    const args = [trader.address, usd('1000'), market('WBTC').address] as const;
    expect((await other.simulateContract({ ...liquidate, args })).result).not.toBe(0n);

    const oracle = { address: lending.oracle, abi: lendingAbi } as const;
    const forged = trader.writeContract({ ...oracle, functionName: 'setPrice', args: ['BTC', parseEther('1')] });
    await expect(forged).rejects.toThrow('OwnableUnauthorizedAccount');
    await setPrice(chain, 'BTC', '50000');
    const [, , shortfall] = await liquidityOf(trader);
    expect(shortfall).toBeGreaterThan(parseEther('4999'));
    expect((await other.simulateContract({ ...liquidate, args })).result).toBe(0n);
    await other.mined(other.writeContract({ ...liquidate, args }));
    const seized = { functionName: 'balanceOf', args: [other.address] } as const;
    expect(await other.readContract({ ...market('WBTC'), ...seized })).toBeGreaterThan(0n);
  });

  it('cannot have its exchange rate inflated by a gift to a market', async () => {
    const { tokens } = chain.contracts;
    const rate = () => trader.readContract({ ...market('WBTC'), functionName: 'exchangeRateStored' });
    const before = await rate();
    const gift = [market('WBTC').address, parseUnits('5', 8)] as const;
    await other.mined(
      other.writeContract({ address: tokens.WBTC, abi: erc20Abi, functionName: 'transfer', args: gift }),
    );
    // A gift of 300,000 USD spreads over all supplies: not even the smallest supplier's share is rounded away.
    expect(await rate()).toBeLessThan((before * 111n) / 100n);
    await failures(trader, 'WBTC', 'mint', 1000n);
    const shares = { functionName: 'balanceOf', args: [trader.address] } as const;
    expect(await trader.readContract({ ...market('WBTC'), ...shares })).toBeGreaterThan(40_000n);
  });
});
