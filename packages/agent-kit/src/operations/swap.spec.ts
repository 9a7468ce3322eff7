import { setTimeout as sleep } from 'node:timers/promises';

import { formatTokenAmount, parseTokenAmount } from '@tollgate/protocol';
import fc from 'fast-check';
import { encodeFunctionData, erc20Abi, toHex, type Address, type Hash } from 'viem';

import { createTrader } from '../../../../test/harness/agents/trader.js';
import { startRpcProxy } from '../../../../test/harness/network/rpc-proxy.js';
import { createFeeTokenPool, createPool, openPools } from '../../../../test/harness/stack/create-pool.js';
import { readContracts } from '../../../../tools/devnet/contracts/contracts.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { DEPLOYER, sendAsDeployer } from '../../../../tools/devnet/protocols/deployer.js';
import { expectFailure, useChain } from '../../../client/test/set-up.js';
import { kitOf } from '../../test/create-funded-kit.js';
import { AgentKit } from '../agent-kit.js';
import { uniswapV3Swap } from '../protocols/swap/uniswap-v3.js';
import { DEVNET_CONTRACTS } from '../registry/devnet-contracts.js';
import { AgentKitError } from '../types/agent-kit-error.js';

const chain = useChain({ protocols: true });

/** `SEI` is the native coin. */
const balanceOf = (owner: Address, symbol: string) =>
  chain.balanceOf(owner, symbol === 'SEI' ? undefined : chain.contracts.tokens[symbol as 'USDC']);
const DECIMALS: Record<string, number> = { USDC: 6, WBTC: 8, WSEI: 18, SEI: 18 };

describe('swap', () => {
  it.each([
    ['100', 'USDC', 'WSEI'],
    ['0.001', 'WBTC', 'USDC'],
    ['2.5', 'WSEI', 'USDC'],
    ['0.002', 'WBTC', 'WSEI'],
    ['10', '0x0', 'USDC'],
    ['10', 'USDC', '0x0'],
  ])('sells exactly %s %s and buys at least the promised %s', async (amount, fromToken, toToken) => {
    const kit = kitOf(chain, 0);
    const [from, to] = [fromToken, toToken].map((token) => (token === '0x0' ? 'SEI' : token)) as [string, string];
    const before = await Promise.all([from, to].map((token) => balanceOf(kit.address, token)));
    const plan = await kit.plan('swap', { amount, fromToken, toToken });
    const result = await kit.execute(plan);
    expect(result).toMatchObject({ status: 'success', fromToken: from, toToken: to, amount });
    const after = await Promise.all([from, to].map((token) => balanceOf(kit.address, token)));
    const receipts = await Promise.all(
      result.transactions.map(({ hash }) => chain.client.getTransactionReceipt({ hash })),
    );
    const gasWei = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n);
    const sold = before[0]! - after[0]! - (from === 'SEI' ? gasWei : 0n);
    const bought = after[1]! - before[1]! + (to === 'SEI' ? gasWei : 0n);
    expect(sold).toBe(parseTokenAmount(amount, DECIMALS[from]!));
    expect(bought).toBeGreaterThanOrEqual(plan.receives[0]!.amountBaseUnits);
    // Native coin leaves no log.
    const token = { ticker: to, address: chain.contracts.tokens[to as 'USDC'], isListed: true };
    const arrived = to === 'SEI' ? undefined : [{ token, amount: formatTokenAmount(bought, DECIMALS[to]!) }];
    expect(result.arrived).toEqual(arrived);
    expect(plan.receives[0]!.amountBaseUnits).toBeGreaterThan((bought * 98n) / 100n);
  });

  it('shows the maximum that leaves and the minimum that arrives before it sends', async () => {
    const { preview } = await kitOf(chain, 0).plan('swap', { amount: '0.01', fromToken: 'WBTC', toToken: '0x0' });
    expect(preview).toMatch(/^Swap 0\.01 WBTC for at least 11\d\d\.\d+ SEI\n {2}leaves {4}at most 0\.01 WBTC\n/);
    expect(preview).toMatch(
      /\n {2}pool fee {2}0\.3 %, then 0\.3 % \(WBTC → USDC → SEI\)\n {2}slippage {2}at most 1 %\n/,
    );
  });

  it('sends nothing when the price has moved since the plan was made', async () => {
    const kit = kitOf(chain, 1);
    const plan = await kit.plan('swap', { amount: '1000', fromToken: 'USDC', toToken: 'WSEI', slippageBps: 50 });
    expect(await kitOf(chain, 2).swap('200000', 'USDC', 'WSEI')).toMatchObject({ status: 'success' });
    const nonce = await chain.nonceOf(kit.address);
    const refusal = { code: 'SLIPPAGE', message: expect.stringContaining('slippage') };
    await expect(kit.execute(plan)).rejects.toMatchObject(refusal);
    expect(await chain.nonceOf(kit.address)).toBe(nonce);
  });

  it('reports a swap as failed if another swap in the same block moved the price, and keeps the money', async () => {
    const kit = kitOf(chain, 1);
    const { router } = chain.contracts.uniswapV3;
    await kit.run('approve', { token: 'USDC', spender: router, amount: '1000' });
    const plan = await kit.plan('swap', { amount: '1000', fromToken: 'USDC', toToken: 'WSEI', slippageBps: 50 });
    const call = (await kitOf(chain, 2).plan('swap', { amount: '100000', fromToken: 'USDC', toToken: 'WSEI' }))
      .steps[1]!;
    await kitOf(chain, 2).run('approve', { token: 'USDC', spender: router, amount: '100000' });
    const before = await balanceOf(kit.address, 'USDC');
    await callRpc(chain.rpcUrl, 'evm_setAutomine', [false]);
    let overtaking: Promise<Hash> | undefined;
    kit.on('transactionSubmitted', () => (overtaking = overtake()));
    const overtake = async () => {
      const bribe = toHex(10n ** 12n);
      const { to, data } = call;
      // Gas of its own: an estimate made in the second of the pool's last swap lacks the price record that a later
      // second's first swap writes, and the overtaker would run out of gas.
      const price = { gas: toHex(500_000), maxFeePerGas: bribe, maxPriorityFeePerGas: bribe };
      const overtaker = { from: kitOf(chain, 2).address, to, data, ...price };
      const hash = (await callRpc(chain.rpcUrl, 'eth_sendTransaction', [overtaker])) as Hash;
      await callRpc(chain.rpcUrl, 'evm_mine');
      await callRpc(chain.rpcUrl, 'evm_setAutomine', [true]);
      return hash;
    };
    const result = await kit.execute(plan);
    const receipt = await chain.client.getTransactionReceipt({ hash: (await overtaking)! });
    expect(receipt).toMatchObject({ status: 'success', transactionIndex: 0 });
    expect(result).toMatchObject({ status: 'failed', code: 'SLIPPAGE', error: expect.stringContaining('slippage') });
    expect(result.transactions).toHaveLength(1);
    expect(await balanceOf(kit.address, 'USDC')).toBe(before);
  });

  it('uses the tolerance of the inputs, else that of the kit, else 1 %', async () => {
    const input = { amount: '10', fromToken: 'USDC', toToken: 'WSEI' };
    const expected = (await kitOf(chain, 0).read('getSwapQuote', input)).expectedAmount;
    const leastAt = (slippageBps: bigint) => {
      const whole = parseTokenAmount(expected, 18) * (10_000n - slippageBps);
      return (whole + 9_999n) / 10_000n;
    };
    const minimumOf = async (kit: AgentKit, slippageBps?: number) =>
      (await kit.plan('swap', { ...input, slippageBps })).receives[0]!.amountBaseUnits;
    expect(await minimumOf(kitOf(chain, 0))).toBe(leastAt(100n));
    expect(await minimumOf(kitOf(chain, 0, { slippageBps: 30 }))).toBe(leastAt(30n));
    expect(await minimumOf(kitOf(chain, 0, { slippageBps: 30 }), 7)).toBe(leastAt(7n));
    expect(await minimumOf(kitOf(chain, 0), 0)).toBe(parseTokenAmount(expected, 18));
    await expectFailure(minimumOf(kitOf(chain, 0), 5_001), 'INVALID_INPUT');
    await expectFailure(minimumOf(kitOf(chain, 0, { policy: { maxSlippageBps: 50 } })), 'POLICY_VIOLATION');
  });

  it.each([
    ['USDC', 'WSEI', '1000000.000001', 'INSUFFICIENT_BALANCE'],
    ['0x0', 'USDC', '99999999', 'INSUFFICIENT_FUNDS'],
  ])('compares the balance of %s in base units first', async (fromToken, toToken, amount, code) => {
    await expectFailure(kitOf(chain, 3).swap(amount, fromToken, toToken), code, 'Insufficient balance for swap');
  });

  it('accepts any realistic amount of a token with 6 decimals, down to base units', async () => {
    const kit = kitOf(chain, 3);
    // With one unit, nothing would be left after the pool's fee.
    const amount = '0.000002';
    expect(await kit.swap(amount, 'USDC', 'WSEI')).toMatchObject({ status: 'success', amount });
  });

  it.each([
    ['USDC', 'USDC'],
    ['0x0', 'SEI'],
  ])('does not swap %s for %s', async (fromToken, toToken) => {
    await expectFailure(kitOf(chain, 0).plan('swap', { amount: '1', fromToken, toToken }), 'INVALID_INPUT');
  });

  it('wraps and unwraps one to one, without a pool', async () => {
    const kit = kitOf(chain, 4);
    const before = await balanceOf(kit.address, 'WSEI');
    const wrap = await kit.plan('swap', { amount: '1.000000000000000001', fromToken: '0x0', toToken: 'WSEI' });
    expect(wrap.preview).toMatch(/^Exchange 1\.000000000000000001 SEI for 1\.000000000000000001 WSEI, one to one\n/);
    expect(wrap.steps.map(({ to }) => to)).toEqual([chain.contracts.tokens.WSEI]);
    expect(await kit.execute(wrap)).toMatchObject({ status: 'success', received: '1.000000000000000001' });
    expect((await balanceOf(kit.address, 'WSEI')) - before).toBe(10n ** 18n + 1n);
    expect(await kit.swap('1.000000000000000001', 'WSEI', '0x0')).toMatchObject({ status: 'success' });
    expect(await balanceOf(kit.address, 'WSEI')).toBe(before);
  });

  it('reports that there is no liquidity, or too little for the amount', async () => {
    const refusal = { code: 'INSUFFICIENT_LIQUIDITY', message: expect.stringContaining('liquidity') };
    await expect(kitOf(chain, 0).swap('1', 'USDC', 'stSEI')).rejects.toMatchObject(refusal);
    // A seventh of the pool: a large part of the money would be lost to the price impact.
    await expect(kitOf(chain, 0).swap('900000', 'USDC', 'WBTC')).rejects.toMatchObject(refusal);
    const { warnings } = await kitOf(chain, 0).plan('swap', { amount: '100000', fromToken: 'USDC', toToken: 'WBTC' });
    expect(warnings).toEqual([expect.stringMatching(/worsens its own price by 1\.\d+ %/)]);
  });

  it('finds the best route also over the last of many intermediate tokens, and quotes few of them at once', async () => {
    const deployer = createTrader(chain, 8);
    const { TestToken } = await readContracts();
    const deploy = async (): Promise<Address> => {
      const contract = { ...TestToken, args: ['Token', 'TKN', 6] };
      return (await deployer.mined(deployer.deployContract(contract))).contractAddress!;
    };
    const target = await deploy();
    const via: Address[] = [];
    while (via.length < 9) via.push(await deploy());
    const { positionManager } = chain.contracts.uniswapV3;
    const supply = 10n ** 12n;
    await sendAsDeployer(
      chain.rpcUrl,
      [target, ...via].flatMap((to) => [
        { to, data: encodeFunctionData({ abi: TestToken.abi, functionName: 'mint', args: [DEPLOYER, supply] }) },
        { to, data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [positionManager, supply] }) },
      ]),
    );
    const feeTiers = [500, 3000, 10000] as const;
    const amount = 10n ** 9n;
    await openPools(
      chain,
      via.flatMap((address, index) =>
        feeTiers.flatMap((fee) => {
          // One token for one, and twice as many in the last tier over the last token.
          const isBest = index === via.length - 1 && fee === 10_000;
          const middle = { address, amount: isBest ? 2n * amount : amount };
          return [
            { fee, sides: [{ address: chain.contracts.tokens.USDC, amount }, middle] as const },
            { fee, sides: [middle, { address: target, amount: 4n * amount }] as const },
          ];
        }),
      ),
    );
    const plugin = uniswapV3Swap({
      ...DEVNET_CONTRACTS.uniswapV3,
      wrappedNative: chain.contracts.tokens.WSEI,
      chainIds: [chain.chainId],
      via,
      feeTiers,
    });
    const proxy = await startRpcProxy(chain.rpcUrl);
    const counts = { reads: { running: 0, most: 0 }, quotes: { running: 0, most: 0 } };
    proxy.intercept('eth_call', async ({ params }, forward) => {
      const isQuote = JSON.stringify(params).toLowerCase().includes(DEVNET_CONTRACTS.uniswapV3.quoter.toLowerCase());
      const count = isQuote ? counts.quotes : counts.reads;
      count.most = Math.max(count.most, ++count.running);
      // Calls that were sent together are counted together, also if the first ones are answered fast.
      await sleep(50);
      const body = await forward();
      count.running--;
      return { body };
    });
    const kit = kitOf(chain, 0, { plugins: [plugin], rpcUrl: proxy.rpcUrl });
    const quote = await kit.read('getSwapQuote', { amount: '1', fromToken: 'USDC', toToken: target });
    await proxy.stop();
    // Four tokens at a time: all pools of both legs are read, and quoted leg by leg.
    expect(counts.reads.most).toBeLessThanOrEqual(4 * 2 * feeTiers.length);
    expect(counts.quotes.most).toBeLessThanOrEqual(4 * feeTiers.length);
    expect(quote.route).toContain(via.at(-1));
    expect(quote.fees).toEqual([{ label: 'pool fee', text: expect.stringContaining('1 %, then 0.05 %') }]);
  });

  it('prices any amount like the pool, and never promises 0', async () => {
    const sells = fc.record({
      fromToken: fc.constantFrom('USDC', 'WSEI', 'WBTC'),
      toToken: fc.constantFrom('USDC', 'WSEI', 'WBTC'),
      baseUnits: fc.bigInt({ min: 1n, max: 10n ** 9n }),
    });
    await fc.assert(
      fc.asyncProperty(sells, async ({ fromToken, toToken, baseUnits }) => {
        fc.pre(fromToken !== toToken);
        const amount = formatTokenAmount(baseUnits, DECIMALS[fromToken]!);
        const plan = await kitOf(chain, 0)
          .plan('swap', { amount, fromToken, toToken })
          .catch((error: AgentKitError) => error);
        // Too little to buy a base unit, or more WBTC than there is.
        if (plan instanceof AgentKitError) {
          expect(plan.code).toMatch(/^INSUFFICIENT_(LIQUIDITY|BALANCE)$/);
          return;
        }
        expect(plan.spends[0]!.amountBaseUnits).toBe(baseUnits);
        expect(plan.receives[0]!.amountBaseUnits).toBeGreaterThan(0n);
        expect(plan.report).toEqual({ fromToken, toToken, amount });
      }),
      { numRuns: 15 },
    );
  });
});

describe('unlisted tokens', () => {
  const { FEE, EVIL } = DEVNET_CONTRACTS.tokens;

  beforeAll(async () => {
    await createPool(chain, EVIL);
    await createFeeTokenPool(chain);
  });

  it.each([
    ['sold', FEE, 'USDC'],
    ['bought', 'USDC', FEE],
  ])('are refused if they keep a part of each transfer: %s', async (_, fromToken, toToken) => {
    await expect(kitOf(chain, 5).swap('1', fromToken, toToken)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/^The token "FEE" \(0x\w{40}\) keeps a part of each transfer: of [\d.]+ only /),
    });
  });

  it('are not bought by a wallet whose policy names its recipients or limits its amounts', async () => {
    const swap = { amount: '1', fromToken: 'USDC', toToken: EVIL };
    for (const policy of [{ recipients: [] }, { maxPerDay: { USDC: '50' } }]) {
      await expect(kitOf(chain, 5, { policy }).plan('swap', swap)).rejects.toMatchObject({
        code: 'POLICY_VIOLATION',
        message: expect.stringContaining(`the token ${EVIL} is neither in the token list nor named by the policy`),
      });
    }
  });

  it('are shown with their own symbol in quotes, and a warning', async () => {
    const { preview, warnings } = await kitOf(chain, 5).plan('swap', { amount: '1', fromToken: 'USDC', toToken: EVIL });
    expect(preview).toContain(`"USDCSEIsend" (${EVIL}, not in the token list)`);
    expect(warnings).toEqual([expect.stringContaining(`${EVIL} calls itself "`)]);
    expect(preview.split('\n').filter((line) => !/^( {2}\S|Swap )/.test(line))).toEqual([]);
    expect(preview).not.toMatch(/send all funds/i);
  });
});
