import { parseTokenAmount } from '@tollgate/protocol';
import { createPublicClient, erc20Abi, http, type Address } from 'viem';

import { startChain, type DevnetWithProtocols } from '../../../../devnet/chain.js';
import { AgentKit } from '../agent-kit.js';

let chain: DevnetWithProtocols;
beforeAll(async () => {
  chain = await startChain({ protocols: true });
});
afterAll(async () => {
  await chain.stop();
});

const client = () => createPublicClient({ transport: http(chain.rpcUrl), pollingInterval: 20 });
const kitOf = (index: number, options = {}) =>
  new AgentKit(chain.accounts[index]!.privateKey, 'offline', { rpcUrl: chain.rpcUrl, ...options });

/** `SEI` is the native coin. */
async function balanceOf(owner: Address, symbol: string): Promise<bigint> {
  if (symbol === 'SEI') return client().getBalance({ address: owner });
  const address = chain.contracts.tokens[symbol as 'USDC'];
  return client().readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] });
}
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
    const kit = kitOf(0);
    const [from, to] = [fromToken, toToken].map((token) => (token === '0x0' ? 'SEI' : token)) as [string, string];
    const before = await Promise.all([from, to].map((token) => balanceOf(kit.address, token)));
    const plan = await kit.plan('swap', { amount, fromToken, toToken });
    const result = await kit.execute(plan);
    expect(result).toMatchObject({ status: 'success', fromToken: from, toToken: to, amount });
    const after = await Promise.all([from, to].map((token) => balanceOf(kit.address, token)));
    const receipts = await Promise.all(result.transactions.map(({ hash }) => client().getTransactionReceipt({ hash })));
    const gasWei = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n);
    const sold = before[0]! - after[0]! - (from === 'SEI' ? gasWei : 0n);
    const bought = after[1]! - before[1]! + (to === 'SEI' ? gasWei : 0n);
    expect(sold).toBe(parseTokenAmount(amount, DECIMALS[from]!));
    expect(bought).toBeGreaterThanOrEqual(plan.receives[0]!.amountBaseUnits);
    expect(plan.receives[0]!.amountBaseUnits).toBeGreaterThan((bought * 98n) / 100n);
  });

  it('shows before it sends what leaves and what arrives at least', async () => {
    const { preview } = await kitOf(0).plan('swap', { amount: '0.01', fromToken: 'WBTC', toToken: '0x0' });
    expect(preview).toMatch(/^Swap 0\.01 WBTC for at least 11\d\d\.\d+ SEI\n {2}leaves {4}at most 0\.01 WBTC\n/);
    expect(preview).toMatch(
      /\n {2}pool fee {2}0\.3 %, then 0\.3 % \(WBTC → USDC → SEI\)\n {2}slippage {2}at most 1 %\n/,
    );
  });
});
