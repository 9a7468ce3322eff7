import type { AgentJobRequest, JobState } from '@tollgate/protocol';
import { createPublicClient, erc20Abi, http, parseAbi, type Address } from 'viem';

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
  /** Of a job that fails, the state and the failure's code. */
  fails?: { state: JobState; code: string };
}

const NFT_ID = '1001';
const positionsAbi = parseAbi(['function tokenOfOwnerByIndex(address owner, uint256 index) view returns (uint256)']);

/** One job of each kind, in an order in which each finds what it needs: a debt before its repayment. */
export const JOBS_OF_EACH_KIND: readonly DemoJob[] = [
  {
    operation: 'transfer',
    title: 'send 1.5 USDC',
    input: ({ receiver }) => ({ amount: '1.5', to: receiver, token: 'USDC' }),
  },
  {
    operation: 'approve',
    title: 'approve 5 USDC for another account',
    input: ({ receiver }) => ({ token: 'USDC', spender: receiver, amount: '5' }),
  },
  {
    operation: 'mintERC721',
    title: 'mint an NFT',
    input: ({ chain }) => ({ contractAddress: chain.contracts.nft, tokenId: NFT_ID }),
  },
  {
    operation: 'transferERC721',
    title: 'give the NFT away',
    input: ({ chain, receiver }) => ({ contractAddress: chain.contracts.nft, tokenId: NFT_ID, to: receiver }),
  },
  {
    operation: 'swap',
    title: 'swap 10 USDC for WSEI, in two steps: an exact approval, then the swap',
    input: () => ({ amount: '10', fromToken: 'USDC', toToken: 'WSEI' }),
  },
  {
    operation: 'addLiquidity',
    title: 'open a position in the pool of USDC and WSEI',
    input: () => ({ tokenA: 'USDC', amountA: '20', tokenB: 'WSEI', amountB: '40' }),
  },
  {
    operation: 'removeLiquidity',
    title: 'remove half of the position',
    input: async (place) => ({ positionId: await findPosition(place), percent: 50 }),
  },
  { operation: 'mintLending', title: 'lend 100 USDC', input: () => ({ symbol: 'USDC', amount: '100' }) },
  {
    operation: 'borrowLending',
    title: 'borrow 10 WSEI against it',
    input: () => ({ symbol: 'WSEI', amount: '10' }),
  },
  {
    operation: 'repayLending',
    title: 'repay the whole debt',
    input: () => ({ symbol: 'WSEI', amount: 'MAX' }),
  },
  {
    operation: 'redeemLending',
    title: 'redeem 50 of the lent USDC',
    input: () => ({ symbol: 'USDC', amount: '50' }),
  },
  { operation: 'stake', title: 'stake 5 SEI', input: () => ({ amount: '5' }) },
  { operation: 'unstake', title: 'queue 2 stSEI for unstaking', input: () => ({ amount: '2' }) },
  {
    operation: 'claimUnstaked',
    title: 'claim them after the unbonding time',
    input: async ({ chain }) => {
      await passTime(chain, Number(UNBONDING_SECONDS) + 1);
      return {};
    },
  },
  { operation: 'perpsDeposit', title: 'deposit 100 USDC into the perps account', input: () => ({ amount: '100' }) },
  {
    operation: 'perpsOpenPosition',
    title: 'go long 0.1 ETH at 5 times leverage',
    input: () => ({ product: 'ETH-PERP', side: 'long', amount: '0.1', leverage: 5 }),
  },
  { operation: 'perpsClosePosition', title: 'close the position', input: () => ({ product: 'ETH-PERP' }) },
  { operation: 'perpsWithdraw', title: 'withdraw 50 USDC from the perps account', input: () => ({ amount: '50' }) },
  {
    operation: 'payment',
    title: 'buy the weather from the gateway',
    input: ({ weatherUrl }) => ({ url: weatherUrl, maxAmount: '0.01' }),
  },
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
  const balance = await createPublicClient({ transport: http(chain.rpcUrl) }).readContract({
    address: chain.contracts.tokens.WBTC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [wallet.address],
  });
  return String((balance * 6n) / 10n / 10n ** 8n);
}
