import { encodeFunctionData, erc20Abi, parseAbi, parseEther } from 'viem';

import { createTrader } from '../../../test/harness/agents/trader.js';
import { startChain, type DevnetWithProtocols } from './chain.js';
import { createTracer, type Tracer } from './trace-transaction.js';
import { sendTransaction } from './transfer-tokens.js';

const RECEIVER = '0x00000000000000000000000000000000000a11ce';

describe('the trace of a transaction', () => {
  let chain: DevnetWithProtocols;
  let trace: Tracer;

  beforeAll(async () => {
    chain = await startChain({ protocols: true });
    trace = await createTracer(chain);
  });
  afterAll(() => chain.stop());

  const transfer = (amount: bigint) =>
    sendTransaction(chain, {
      to: chain.asset,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [RECEIVER, amount] }),
    });

  it('names contract, method and what moved', async () => {
    expect(await trace(await transfer(1_500_000n))).toMatchObject({
      status: 'success',
      to: 'USDC',
      method: 'transfer',
      effects: ['-1.5 USDC'],
    });
    const [spender, amount] = [chain.contracts.uniswapV3.router, 2_000_000n] as const;
    const approval = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] });
    expect(await trace(await sendTransaction(chain, { to: chain.asset, data: approval }))).toMatchObject({
      method: 'approve',
      effects: ['Uniswap v3 router may take 2 USDC'],
    });
  });

  it('reports native coins, events of a protocol, and NFTs', async () => {
    const trader = createTrader(chain, 1);
    const { staking, nft } = chain.contracts;
    const abi = parseAbi(['function stake() payable', 'function mint(address to, uint256 tokenId)']);
    const staked = await trader.mined(
      trader.writeContract({ address: staking, abi, functionName: 'stake', value: parseEther('2') }),
    );
    const { effects, to } = await trace(staked.transactionHash);
    expect([to, effects[0], effects[1]?.replace(/\d(\.\d+…)?/, 'n'), effects.at(-1)]).toEqual([
      'liquid staking',
      '-2 SEI',
      '+n stSEI',
      'Staked',
    ]);
    const minted = await trader.mined(
      trader.writeContract({ address: nft, abi, functionName: 'mint', args: [trader.address, 7n] }),
    );
    expect(await trace(minted.transactionHash)).toMatchObject({ method: 'mint', effects: ['+test NFT #7'] });
    const sent = await trader.mined(trader.sendTransaction({ to: RECEIVER, value: 1n }));
    expect(await trace(sent.transactionHash)).toMatchObject({ to: RECEIVER, method: 'transfer of coins' });
  });

  it('reports that it was reverted', async () => {
    expect(await trace(await transfer(10n ** 30n))).toMatchObject({ status: 'reverted', effects: [] });
  });
});
