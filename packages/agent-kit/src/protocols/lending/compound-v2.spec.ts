import { encodeFunctionData, parseAbi, parseGwei, numberToHex, type Address, type Hex } from 'viem';

import { callRpc } from '../../../../../tools/devnet/processes/json-rpc.js';
import { DEPLOYER, sendAsDeployer } from '../../../../../tools/devnet/protocols/deployer.js';
import { encodeSetPrice, setPrice } from '../../../../../tools/devnet/protocols/set-price.js';
import { expectFailure, useChain, useMade } from '../../../../client/test/set-up.js';
import { createFundedKit } from '../../../test/create-funded-kit.js';
import { createDevnetRegistry } from '../../registry/devnet.js';

const abi = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function borrowBalanceStored(address account) view returns (uint256)',
  'function _setBorrowPaused(address market, bool isPaused) returns (bool)',
]);

type Symbol = 'USDC' | 'WSEI' | 'WBTC';

describe('lending', () => {
  const chain = useChain({ protocols: true });
  const kit = useMade(() => createFundedKit(chain));

  const marketOf = (symbol: Symbol): Address => chain.contracts.lending.markets[symbol];
  const readAllowance = (symbol: Symbol) =>
    chain.allowanceOf(chain.contracts.tokens[symbol], kit.address, marketOf(symbol));
  const readOf = (symbol: Symbol, functionName: 'balanceOf' | 'borrowBalanceStored') =>
    chain.client.readContract({ address: marketOf(symbol), abi, functionName, args: [kit.address] });
  const balance = (symbol: Symbol) => kit.getERC20Balance(chain.contracts.tokens[symbol]);

  it('lists the markets with their terms', async () => {
    const { markets } = await kit.getLendingMarkets();
    expect(markets.map(({ symbol, market, collateralFactor }) => [symbol, market, collateralFactor])).toEqual([
      ['USDC', marketOf('USDC'), '0.8'],
      ['WSEI', marketOf('WSEI'), '0.6'],
      ['WBTC', marketOf('WBTC'), '0.6'],
    ]);
    // A fifth of the supply is lent: 2 % plus a fifth of 12 % a year; suppliers get a fifth of that, less the reserve's
    // tenth.
    expect(markets[2]).toMatchObject({ cash: '40', borrowRatePercent: '4.9999', supplyRatePercent: '0.8999' });
  });

  it.each([
    ['USDC', '1234.567891', '10000'],
    ['WSEI', '1.000000000000000001', '20'],
    ['WBTC', '0.01234567', '0.1'],
  ] as const)('supplies %s %s exactly, and leaves no allowance', async (symbol, amount, before) => {
    expect(await balance(symbol)).toBe(before);
    const result = await kit.mintLending(symbol, amount);
    expect(result).toMatchObject({ status: 'success', symbol, amount });
    expect(Number(before) - Number(await balance(symbol))).toBeCloseTo(Number(amount), 6);
    expect(await readAllowance(symbol)).toBe(0n);
    const { supplied } = await kit.getLendingPosition();
    expect(supplied).toHaveLength(1);
    expect(supplied[0]).toMatchObject({ symbol, isCollateral: false });
    expect(Number(supplied[0]!.amount)).toBeCloseTo(Number(amount), 3);
  });

  it('compares base units with base units: a whole balance can be supplied, one unit more cannot', async () => {
    await expectFailure(kit.mintLending('WBTC', '0.10000001'), 'INSUFFICIENT_BALANCE');
    expect(await kit.mintLending('WBTC', '0.1')).toMatchObject({ status: 'success' });
  });

  it('knows markets by listed symbols and addresses, never by the symbol that a token reports', async () => {
    const { tokens } = chain.contracts;
    await expect(kit.mintLending('EVIL', '1')).rejects.toMatchObject({
      code: 'UNKNOWN_TOKEN',
      message: '"EVIL" has no lending market; there are markets for USDC, WSEI, WBTC.',
    });
    await expectFailure(kit.borrowLending('0x0', '1'), 'UNKNOWN_TOKEN');
    await expectFailure(kit.mintLending(tokens.FEE, '1'), 'UNKNOWN_TOKEN');

    const registry = createDevnetRegistry(chain.chainId);
    const unlisted = await createFundedKit(chain, {
      registry: { ...registry, tokens: registry.tokens.filter(({ symbol }) => symbol !== 'WBTC') },
    });
    const { markets } = await unlisted.getLendingMarkets();
    expect(markets.map(({ symbol }) => symbol)).toEqual(['USDC', 'WSEI', tokens.WBTC]);
    await expectFailure(unlisted.mintLending('WBTC', '0.1'), 'UNKNOWN_TOKEN');
    expect(await unlisted.mintLending(tokens.WBTC, '0.1')).toMatchObject({ status: 'success', symbol: tokens.WBTC });
  });

  describe('a borrow', () => {
    it('makes collateral only of the supplies it needs, each market in a step of its own', async () => {
      await kit.mintLending('USDC', '1000');
      await kit.mintLending('WBTC', '0.001');
      const plan = await kit.plan('borrowLending', { symbol: 'WSEI', amount: '1000' });
      expect(plan.steps.map(({ label }) => label)).toEqual(['Use the supplied USDC as collateral', 'Borrow 1000 WSEI']);
      expect(plan.warnings).toEqual(['The supplied USDC becomes collateral, which can be liquidated.']);
      expect(await kit.execute(plan)).toMatchObject({ status: 'success', symbol: 'WSEI', amount: '1000' });
      expect(await balance('WSEI')).toBe('1020');

      const position = await kit.getLendingPosition();
      expect(position.supplied.map(({ symbol, isCollateral }) => [symbol, isCollateral])).toEqual([
        ['USDC', true],
        ['WBTC', false],
      ]);
      // 800 of 1000 USDC, and 36 of the WBTC's value of 60, less 500.
      expect(Number(position.available)).toBeCloseTo(336, 2);
      expect(position).toMatchObject({ shortfall: '0', health: expect.stringMatching(/^1\.(6|5999)$/) });

      const second = await kit.plan('borrowLending', { symbol: 'WSEI', amount: '650' });
      expect(second.steps.map(({ label }) => label)).toEqual([
        'Use the supplied WBTC as collateral',
        'Borrow 650 WSEI',
      ]);
    });

    it('of more than the collateral covers is refused with the figures, and sends nothing', async () => {
      await kit.mintLending('USDC', '1000');
      const sent = await chain.nonceOf(kit.address);
      const refused = await kit.borrowLending('WSEI', '1601').catch((error: unknown) => error);
      expect(refused).toMatchObject({
        code: 'INSUFFICIENT_COLLATERAL',
        suggestion: 'Add collateral.',
        details: { token: 'WSEI', wanted: '1601' },
        message: expect.stringMatching(
          /^The collateral is too low to borrow 1601 WSEI: at most 1(599\.9\d*|600(\.0\d*)?) WSEI can be borrowed\.$/,
        ),
      });
      await expect(kit.borrowLending('WBTC', '0.02')).rejects.toThrow('collateral');
      expect(await chain.nonceOf(kit.address)).toBe(sent);
      // The figure is right: a little less can be borrowed.
      expect(await kit.borrowLending('WSEI', '1599.9')).toMatchObject({ status: 'success' });
    });

    it('without any supply is refused', async () => {
      await expect(kit.borrowLending('USDC', '0.000001')).rejects.toMatchObject({
        code: 'INSUFFICIENT_COLLATERAL',
        details: { available: '0' },
      });
    });

    it('of more than the market has is refused', async () => {
      await kit.mintLending('USDC', '9000');
      await setPrice(chain, 'BTC', '100');
      try {
        await expect(kit.borrowLending('WBTC', '50')).rejects.toMatchObject({
          code: 'INSUFFICIENT_LIQUIDITY',
          message: expect.stringMatching(
            /^The lending market has too little liquidity: 50 WBTC wanted, 40(\.\d+)? WBTC available\.$/,
          ),
        });
      } finally {
        await setPrice(chain, 'BTC', '60000');
      }
    });

    it('that is mined as a success and pays nothing is a failure', async () => {
      await kit.mintLending('USDC', '1000');
      await kit.borrowLending('WSEI', '100');
      const before = await balance('WSEI');
      const failures: unknown[] = [];
      kit.on('transactionFailed', (error) => failures.push(error));
      await callRpc(chain.rpcUrl, 'evm_setAutomine', [false]);
      const submitted = new Promise((resolve) => kit.on('transactionSubmitted', resolve));
      const borrowing = kit.borrowLending('WSEI', '1400');
      await submitted;
      // The price moves after the last simulation, in the same block as the borrow and before it.
      await sendFirstInBlock(encodeSetPrice(chain.contracts, 'SEI', '5').data);
      await callRpc(chain.rpcUrl, 'evm_mine');
      await callRpc(chain.rpcUrl, 'evm_setAutomine', [true]);
      const result = await borrowing;
      await setPrice(chain, 'SEI', '0.5');

      const receipt = await chain.client.getTransactionReceipt({ hash: result.result! });
      expect(receipt.status).toBe('success');
      expect(result).toMatchObject({
        status: 'failed',
        code: 'INSUFFICIENT_COLLATERAL',
        error: 'The collateral is too low: "COMPTROLLER_REJECTION: INSUFFICIENT_LIQUIDITY".',
      });
      expect(failures).toEqual([expect.objectContaining({ code: 'INSUFFICIENT_COLLATERAL' })]);
      expect(await balance('WSEI')).toBe(before);
    });

    it('that is paused is refused with the reason of the revert', async () => {
      await kit.mintLending('USDC', '100');
      const pause = (isPaused: boolean) =>
        sendAsDeployer(chain.rpcUrl, [
          {
            to: chain.contracts.lending.comptroller,
            data: encodeFunctionData({ abi, functionName: '_setBorrowPaused', args: [marketOf('WSEI'), isPaused] }),
          },
        ]);
      await pause(true);
      try {
        await expect(kit.borrowLending('WSEI', '1')).rejects.toMatchObject({
          code: 'PROTOCOL_FAILED',
          message: expect.stringContaining('borrow is paused'),
        });
      } finally {
        await pause(false);
      }
    });

    async function sendFirstInBlock(data: Hex): Promise<void> {
      const { rpcUrl, contracts } = chain;
      await callRpc(rpcUrl, 'anvil_impersonateAccount', [DEPLOYER]);
      const fee = numberToHex(parseGwei('1000'));
      const call = { from: DEPLOYER, to: contracts.lending.oracle, data, gas: numberToHex(200_000) };
      await callRpc(rpcUrl, 'eth_sendTransaction', [{ ...call, maxFeePerGas: fee, maxPriorityFeePerGas: fee }]);
      await callRpc(rpcUrl, 'anvil_stopImpersonatingAccount', [DEPLOYER]);
    }
  });

  describe('a repayment', () => {
    beforeEach(async () => {
      await kit.mintLending('USDC', '1000');
    });

    it('of a part reduces the debt by it', async () => {
      await kit.borrowLending('WBTC', '0.01');
      expect(await kit.repayLending('WBTC', '0.004')).toMatchObject({ status: 'success', amount: '0.004' });
      const { borrowed } = await kit.getLendingPosition();
      expect(Number(borrowed[0]!.amount)).toBeCloseTo(0.006, 6);
      expect(await readAllowance('WBTC')).toBe(0n);
    });

    it.each([
      ['USDC', '100.123456'],
      ['WSEI', '1000'],
      ['WBTC', '0.01'],
    ] as const)('of MAX %s leaves no debt and no allowance, however much interest accrued', async (symbol, amount) => {
      await kit.borrowLending(symbol, amount);
      await callRpc(chain.rpcUrl, 'anvil_mine', [numberToHex(100)]);
      const plan = await kit.plan('repayLending', { symbol, amount: 'MAX' });
      const owed = plan.report!['amount']!;
      expect(Number(owed)).toBeGreaterThan(Number(amount));
      // More interest between the plan and its execution.
      await callRpc(chain.rpcUrl, 'anvil_mine', [numberToHex(100)]);
      expect(await kit.execute(plan)).toMatchObject({ status: 'success' });
      expect(await readOf(symbol, 'borrowBalanceStored')).toBe(0n);
      expect(await readAllowance(symbol)).toBe(0n);
      expect((await kit.getLendingPosition()).borrowed).toEqual([]);
    });

    it('of more than is owed, or of nothing, is refused with the figures', async () => {
      await expectFailure(kit.repayLending('WSEI', 'MAX'), 'INVALID_INPUT', 'There is no debt in WSEI.');
      await kit.borrowLending('WSEI', '10');
      await expect(kit.repayLending('WSEI', '11')).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringMatching(/^Only 10(\.0000\d+)? WSEI is owed\.$/),
        suggestion: 'Use MAX to repay it all.',
      });
      await expectFailure(kit.repayLending('WSEI', 'max'), 'INVALID_INPUT');
    });

    it('is refused when the account has less of the token', async () => {
      await kit.borrowLending('WBTC', '0.005');
      await kit.transfer('0.1001', chain.accounts[0]!.address, 'WBTC');
      await expectFailure(kit.repayLending('WBTC', 'MAX'), 'INSUFFICIENT_BALANCE');
    });
  });

  describe('a withdrawal', () => {
    it('of MAX withdraws everything with its interest', async () => {
      await kit.mintLending('USDC', '1000');
      await callRpc(chain.rpcUrl, 'anvil_mine', [numberToHex(100)]);
      expect(await kit.redeemLending('USDC', 'MAX')).toMatchObject({ status: 'success' });
      expect(await readOf('USDC', 'balanceOf')).toBe(0n);
      expect(Number(await balance('USDC'))).toBeGreaterThan(10_000);
    });

    it('of an amount pays exactly that', async () => {
      await kit.mintLending('WBTC', '0.05');
      expect(await kit.redeemLending('WBTC', '0.02')).toMatchObject({ status: 'success', amount: '0.02' });
      expect(await balance('WBTC')).toBe('0.07');
    });

    it('of more than is supplied is refused', async () => {
      await expectFailure(kit.redeemLending('USDC', 'MAX'), 'INSUFFICIENT_BALANCE');
      await kit.mintLending('USDC', '10');
      await expect(kit.redeemLending('USDC', '10.1')).rejects.toMatchObject({
        code: 'INSUFFICIENT_BALANCE',
        details: { wanted: '10.1' },
      });
    });

    it('of collateral that a debt needs is refused with the amount that can be withdrawn, which succeeds', async () => {
      await kit.mintLending('USDC', '1000');
      await kit.borrowLending('WSEI', '800');
      const sent = await chain.nonceOf(kit.address);
      await expectFailure(kit.redeemLending('USDC', 'MAX'), 'INSUFFICIENT_COLLATERAL');
      const refused = (await kit.redeemLending('USDC', '600').catch((error: unknown) => error)) as {
        details: { available: string };
      };
      expect(refused).toMatchObject({
        code: 'INSUFFICIENT_COLLATERAL',
        message: expect.stringContaining('collateral'),
      });
      expect(await chain.nonceOf(kit.address)).toBe(sent);
      expect(Number(refused.details.available)).toBeCloseTo(500, 2);
      expect(await kit.redeemLending('USDC', '499.99')).toMatchObject({ status: 'success' });
    });
  });

  it('follows the oracle: health, shortfall and remaining borrowing power', async () => {
    await kit.mintLending('WBTC', '0.1');
    await kit.borrowLending('USDC', '2000');
    const before = await kit.getLendingPosition();
    expect(before).toMatchObject({ shortfall: '0', health: expect.stringMatching(/^1\.(8|79\d+)$/) });
    expect(Number(before.available)).toBeCloseTo(1600, 1);
    await setPrice(chain, 'BTC', '30000');
    try {
      const after = await kit.getLendingPosition();
      expect(after).toMatchObject({ available: '0', health: expect.stringMatching(/^0\.(9|89\d+)$/) });
      expect(Number(after.shortfall)).toBeCloseTo(200, 1);
      await expectFailure(kit.borrowLending('USDC', '1'), 'INSUFFICIENT_COLLATERAL');
      await expectFailure(kit.redeemLending('WBTC', '0.001'), 'INSUFFICIENT_COLLATERAL');
    } finally {
      await setPrice(chain, 'BTC', '60000');
    }
  });

  it('runs concurrent operations one after the other', async () => {
    const results = await Promise.all([
      kit.mintLending('USDC', '100'),
      kit.mintLending('USDC', '200'),
      kit.mintLending('WBTC', '0.01'),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
    expect(await readAllowance('USDC')).toBe(0n);
    const { supplied } = await kit.getLendingPosition();
    expect(Number(supplied[0]!.amount)).toBeCloseTo(300, 3);
  });
});
