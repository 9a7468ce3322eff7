import { encodeErrorResult, erc20Abi, parseAbi, parseUnits } from 'viem';

import { setPrice } from '../../../../../tools/devnet/protocols/set-price.js';
import { expectFailure, useChain, useMade } from '../../../../client/test/set-up.js';
import { createFundedKit } from '../../../test/create-funded-kit.js';
import { explainRevert } from '../../chain/explain-failure.js';
import { perpsFailures } from './perps-abi.js';

describe('perpetuals', () => {
  const chain = useChain({ protocols: true });
  const kit = useMade(() => createFundedKit(chain));

  const readFree = async () => (await kit.perpsGetPositions()).freeMargin;

  it('lists the products, to an account without any state', async () => {
    const products = await kit.perpsGetProducts();
    expect(products).toHaveLength(4);
    expect(products[0]).toEqual({
      id: '1',
      symbol: 'BTC-PERP',
      baseAsset: 'BTC',
      quoteAsset: 'USDC',
      active: true,
      markPrice: '60000',
      increment: '0.001',
      minQuantity: '0.001',
      maxQuantity: '20',
      makerFee: '0.0002',
      takerFee: '0.0005',
      initialWeight: '0.05',
      maintenanceWeight: '0.03',
    });
    expect(products.map(({ symbol, active }) => [symbol, active])).toEqual([
      ['BTC-PERP', true],
      ['ETH-PERP', true],
      ['SEI-PERP', true],
      ['ATOM-PERP', false],
    ]);
  });

  it('deposits and withdraws margin, to the last unit, and leaves no allowance', async () => {
    expect(await kit.perpsDeposit('1000.000001')).toMatchObject({
      status: 'success',
      amount: '1000.000001',
      marginToken: 'USDC',
    });
    const args = [kit.address, chain.contracts.perps] as const;
    const { USDC } = chain.contracts.tokens;
    expect(await chain.client.readContract({ address: USDC, abi: erc20Abi, functionName: 'allowance', args })).toBe(0n);
    expect(await readFree()).toBe('1000.000001');
    expect(await kit.perpsWithdraw('1000')).toMatchObject({ status: 'success', amount: '1000' });
    expect(await readFree()).toBe('0.000001');
    expect(await kit.getERC20Balance(USDC)).toBe('9999.999999');
    await expect(kit.perpsWithdraw('0.000002')).rejects.toMatchObject({
      code: 'INSUFFICIENT_MARGIN',
      message: 'The free margin is too low: 0.000002 USDC needed, 0.000001 USDC free.',
    });
    await expectFailure(kit.perpsDeposit('10000'), 'INSUFFICIENT_BALANCE');
  });

  it('refuses a leverage of 21 before any other check', async () => {
    const sent = await chain.nonceOf(kit.address);
    await expect(kit.perpsOpenPosition('BTC-PERP', 'long', '0.01', 21)).rejects.toMatchObject({
      code: 'LEVERAGE_TOO_HIGH',
      message: 'A leverage of 21x is too high; the maximum is 20x.',
      suggestion: 'Reduce the leverage; the maximum is 20x.',
    });
    await expectFailure(kit.perpsOpenPosition('BTC-PERP', 'long', '0.01', 1.5), 'INVALID_INPUT');
    await expectFailure(kit.perpsOpenPosition('BTC-PERP', 'long', '0.01', 0), 'INVALID_INPUT');
    expect(await chain.nonceOf(kit.address)).toBe(sent);
  });

  it('refuses an order without enough margin, with the figures', async () => {
    await kit.perpsDeposit('100');
    const sent = await chain.nonceOf(kit.address);
    // 1,200 USD at 10x need 120 of margin and 0.6 of fee.
    await expect(kit.perpsOpenPosition('BTC-PERP', 'long', '0.02', 10)).rejects.toMatchObject({
      code: 'INSUFFICIENT_MARGIN',
      message: 'The free margin is too low: 120.6 USDC needed, 100 USDC free.',
      suggestion: 'Add margin.',
    });
    expect(await chain.nonceOf(kit.address)).toBe(sent);
    expect(await kit.perpsOpenPosition('BTC-PERP', 'long', '0.02', 20)).toMatchObject({ status: 'success' });
    expect(await readFree()).toBe('39.4');
  });

  it.each([
    ['BTC-PERP', '0.0005', 'INVALID_INPUT', 'must be a multiple of 0.001 BTC'],
    ['BTC-PERP', '0.0015', 'INVALID_INPUT', 'must be a multiple of 0.001 BTC'],
    ['BTC-PERP', '20.001', 'INVALID_INPUT', 'must be at most 20 BTC'],
    ['SEI-PERP', '1.5', 'INVALID_INPUT', 'must be a multiple of 1 SEI'],
    ['BTC-PERP', '0.0000000000000000001', 'INVALID_INPUT', 'has more than 18 decimals'],
    ['BTC-PERP', '0', 'INVALID_INPUT', 'must be more than 0'],
    ['ATOM-PERP', '1', 'PROTOCOL_FAILED', 'ATOM-PERP is not active'],
    ['DOGE-PERP', '1', 'INVALID_INPUT', 'there are BTC-PERP, ETH-PERP, SEI-PERP, ATOM-PERP'],
  ])('refuses an order of %s %s: %s', async (product, amount, code, text) => {
    await expectFailure(kit.perpsOpenPosition(product, 'long', amount), code, expect.stringContaining(text));
  });

  it.each([
    ['long', '66000', 60],
    ['long', '54000', -60],
    ['short', '54000', 60],
    ['short', '66000', -60],
  ] as const)('opens a %s and closes it at %s with %d', async (side, price, pnl) => {
    await kit.perpsDeposit('1000');
    const plan = await kit.plan('perpsOpenPosition', { product: 'btc-perp', side, amount: '0.01', leverage: 5 });
    const limit = side === 'long' ? 'at most 60600' : 'at least 59400';
    expect(plan).toMatchObject({
      summary: `Open ${side} 0.01 BTC of BTC-PERP at 5x for ${limit}, with about 120.3 USDC of margin and fee`,
      fees: [{ label: 'taker fee', text: 'about 0.3 USDC' }],
      slippageBps: 100,
      spends: [],
    });
    expect(await kit.execute(plan)).toMatchObject({ status: 'success', product: 'BTC-PERP', side, amount: '0.01' });
    expect(await readFree()).toBe('879.7');
    try {
      await setPrice(chain, 'BTC', price);
      const [position] = (await kit.perpsGetPositions()).positions;
      expect(position).toMatchObject({
        product: 'BTC-PERP',
        side,
        quantity: '0.01',
        entryPrice: '60000',
        margin: '120',
        unrealizedPnl: String(pnl),
      });
      expect(Number(position!.liquidationPrice)).toBeCloseTo(side === 'long' ? 49_484.5 : 69_902.9, 0);
      const closed = await kit.perpsClosePosition('BTC');
      expect(closed).toMatchObject({ status: 'success', product: 'BTC-PERP', side, amount: '0.01' });
      // 879.7 and the margin of 120, plus or minus the profit, less 0.05 % of the current value.
      const fee = parseUnits(price, 6) / 100n / 2_000n;
      const expected = parseUnits('999.7', 6) + BigInt(pnl) * 1_000_000n - fee;
      expect(parseUnits(await readFree(), 6)).toBe(expected);
      expect((await kit.perpsGetPositions()).positions).toEqual([]);
    } finally {
      await setPrice(chain, 'BTC', '60000');
    }
  });

  it('closes a part, and refuses more than the position has', async () => {
    await kit.perpsDeposit('1000');
    await expectFailure(kit.perpsClosePosition('ETH-PERP'), 'INVALID_INPUT', 'There is no position in ETH-PERP.');
    await kit.perpsOpenPosition('ETH-PERP', 'short', '0.5', 3);
    expect(await kit.perpsClosePosition('ETH-PERP', '0.2')).toMatchObject({ status: 'success', amount: '0.2' });
    expect((await kit.perpsGetPositions()).positions).toMatchObject([{ quantity: '0.3', side: 'short' }]);
    await expect(kit.perpsClosePosition('ETH-PERP', '0.4')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('is more than the 0.3 of the position'),
    });
    await expectFailure(kit.perpsClosePosition('ETH-PERP', '0.205'), 'INVALID_INPUT');
    await expect(kit.perpsOpenPosition('ETH-PERP', 'long', '0.1')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: 'There is already a short position in ETH-PERP.',
    });
  });

  it('opens with leverage 1 by default, with which a long position never loses more than its margin', async () => {
    await kit.perpsDeposit('1000');
    await kit.perpsOpenPosition('SEI-PERP', 'long', '100');
    expect((await kit.perpsGetPositions()).positions).toMatchObject([
      { product: 'SEI-PERP', margin: '50', liquidationPrice: null },
    ]);
  });

  it('does not withdraw margin that a position has locked', async () => {
    await kit.perpsDeposit('100');
    await kit.perpsOpenPosition('ETH-PERP', 'long', '0.01', 1);
    await expectFailure(kit.perpsWithdraw('71'), 'INSUFFICIENT_MARGIN');
    expect(await kit.perpsWithdraw('69.985')).toMatchObject({ status: 'success' });
    expect(await readFree()).toBe('0');
  });

  it.each([
    ['long', '60601'],
    ['short', '59399'],
  ] as const)('does not open a %s when the price has moved beyond the tolerance', async (side, price) => {
    await kit.perpsDeposit('1000');
    const plan = await kit.plan('perpsOpenPosition', { product: 'BTC-PERP', side, amount: '0.01', leverage: 2 });
    try {
      await setPrice(chain, 'BTC', price);
      const sent = await chain.nonceOf(kit.address);
      await expectFailure(kit.execute(plan), 'SLIPPAGE', expect.stringContaining('slippage'));
      expect(await chain.nonceOf(kit.address)).toBe(sent);
    } finally {
      await setPrice(chain, 'BTC', '60000');
    }
  });

  it('opens within the tolerance, at the current price', async () => {
    await kit.perpsDeposit('1000');
    const plan = await kit.plan('perpsOpenPosition', {
      product: 'BTC-PERP',
      side: 'long',
      amount: '0.01',
      leverage: 2,
    });
    try {
      await setPrice(chain, 'BTC', '60600');
      expect(await kit.execute(plan)).toMatchObject({ status: 'success' });
      expect((await kit.perpsGetPositions()).positions).toMatchObject([{ entryPrice: '60600' }]);
    } finally {
      await setPrice(chain, 'BTC', '60000');
    }
  });

  const errorsAbi = parseAbi([
    'error InsufficientMargin(uint256 required, uint256 available)',
    'error LeverageTooHigh(uint256 leverage, uint256 maximum)',
    'error PriceMoved(uint256 price, uint256 limit)',
    'error HouseFundsTooLow(uint256 wanted, uint256 available)',
  ]);
  it.each([
    ['InsufficientMargin', 'INSUFFICIENT_MARGIN', 'margin'],
    ['LeverageTooHigh', 'LEVERAGE_TOO_HIGH', 'leverage'],
    ['PriceMoved', 'SLIPPAGE', 'slippage'],
    ['HouseFundsTooLow', 'INSUFFICIENT_LIQUIDITY', 'liquidity'],
  ] as const)('explains %s of the exchange as %s', (errorName, code, word) => {
    const data = encodeErrorResult({ abi: errorsAbi, errorName, args: [21n, 20n] });
    expect(explainRevert(data, perpsFailures)).toMatchObject({ code, message: expect.stringContaining(word) });
  });
});
