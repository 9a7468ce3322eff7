import type { AgentJobRequest, JobState } from '@tollgate/protocol';
import { createPublicClient, http, parseAbi, type Address } from 'viem';

import { readBalance } from '../chain/read-balance.js';
import type { TracedChain } from '../chain/trace-transaction.js';
import { UNBONDING_SECONDS } from '../protocols/create-contracts.js';
import { passTime } from '../protocols/pass-time.js';

/** The context in which a job of the demo is written. */
export interface DemoPlace {
  chain: TracedChain;
  /** The URL of the paid resource, as the worker reaches it. */
  weatherUrl: string;
  wallet: { name: string; address: Address };
  /** The address of another account. */
  receiver: Address;
}

/** One job of the demo, and its expected end. */
export interface DemoJob {
  operation: AgentJobRequest['operation'];
  /** What the job does, for a heading. */
  title: string;
  /** Written when its turn has come: some need what an earlier job made. */
  input: (place: DemoPlace) => AgentJobRequest['input'] | Promise<AgentJobRequest['input']>;
  /** The state and the failure's code, if the job fails. */
  fails?: { state: JobState; code: string };
}

const NFT_ID = '1001';
const positionsAbi = parseAbi(['function tokenOfOwnerByIndex(address owner, uint256 index) view returns (uint256)']);

/** One job of each kind, in an order in which each finds what it needs: a debt before its repayment. */
export const JOBS_OF_EACH_KIND: readonly DemoJob[] = [
  job('transfer', 'send 1.5 USDC', ({ receiver }) => ({ amount: '1.5', to: receiver, token: 'USDC' })),
  job('approve', 'approve 5 USDC for another account', ({ receiver }) => {
    return { token: 'USDC', spender: receiver, amount: '5' };
  }),
  job('mintERC721', 'mint an NFT', ({ chain }) => ({ contractAddress: chain.contracts.nft, tokenId: NFT_ID })),
  job('transferERC721', 'give the NFT away', ({ chain, receiver }) => {
    return { contractAddress: chain.contracts.nft, tokenId: NFT_ID, to: receiver };
  }),
  job('swap', 'swap 10 USDC for WSEI, in two steps: an exact approval, then the swap', () => {
    return { amount: '10', fromToken: 'USDC', toToken: 'WSEI' };
  }),
  job('addLiquidity', 'open a position in the pool of USDC and WSEI', () => {
    return { tokenA: 'USDC', amountA: '20', tokenB: 'WSEI', amountB: '40' };
  }),
  job('removeLiquidity', 'remove half of the position', async (place) => {
    return { positionId: await findPosition(place), percent: 50 };
  }),
  job('mintLending', 'lend 100 USDC', () => ({ symbol: 'USDC', amount: '100' })),
  job('borrowLending', 'borrow 10 WSEI against it', () => ({ symbol: 'WSEI', amount: '10' })),
  job('repayLending', 'repay the whole debt', () => ({ symbol: 'WSEI', amount: 'MAX' })),
  job('redeemLending', 'redeem 50 of the lent USDC', () => ({ symbol: 'USDC', amount: '50' })),
  job('stake', 'stake 5 SEI', () => ({ amount: '5' })),
  job('unstake', 'queue 2 stSEI for unstaking', () => ({ amount: '2' })),
  job('claimUnstaked', 'claim them after the unbonding time', async ({ chain }) => {
    await passTime(chain, Number(UNBONDING_SECONDS) + 1);
    return {};
  }),
  job('perpsDeposit', 'deposit 100 USDC into the perps account', () => ({ amount: '100' })),
  job('perpsOpenPosition', 'go long 0.1 ETH at 5 times leverage', () => {
    return { product: 'ETH-PERP', side: 'long', amount: '0.1', leverage: 5 };
  }),
  job('perpsClosePosition', 'close the position', () => ({ product: 'ETH-PERP' })),
  job('perpsWithdraw', 'withdraw 50 USDC from the perps account', () => ({ amount: '50' })),
  job('payment', 'buy the weather from the gateway', ({ weatherUrl }) => ({ url: weatherUrl, maxAmount: '0.01' })),
];

/** More than the wallet's balance: refused in planning, before a nonce is taken. */
export const REFUSED_JOB: DemoJob = {
  operation: 'transfer',
  title: 'send more than the balance: refused before anything is sent',
  input: ({ receiver }) => ({ amount: '999999999', to: receiver, token: 'USDC' }),
  fails: { state: 'PLAN_FAILED', code: 'INSUFFICIENT_BALANCE' },
};

/** More than half of a balance; two of them fit into no block. */
export const LARGE_JOB: DemoJob = {
  operation: 'transfer',
  title: 'send more than half of the WBTC',
  input: async (place) => ({ amount: await readLargePart(place), to: place.receiver, token: 'WBTC' }),
};

function job(operation: DemoJob['operation'], title: string, input: DemoJob['input']): DemoJob {
  return { operation, title, input };
}

async function findPosition({ chain, wallet }: DemoPlace): Promise<string> {
  const id = await createPublicClient({ transport: http(chain.rpcUrl) }).readContract({
    address: chain.contracts.uniswapV3.positionManager,
    abi: positionsAbi,
    functionName: 'tokenOfOwnerByIndex',
    args: [wallet.address, 0n],
  });
  return String(id);
}

async function readLargePart({ chain, wallet }: DemoPlace): Promise<string> {
  const balance = await readBalance({ rpcUrl: chain.rpcUrl, asset: chain.contracts.tokens.WBTC }, wallet.address);
  return String((balance * 6n) / 10n / 10n ** 8n);
}
