import type { AgentJobRequest } from '@tollgate/protocol';
import { getAddress, type Address } from 'viem';

import type { DevnetWithProtocols } from '../../tools/devnet/chain/chain.js';
import type { Random } from '../harness/random.js';

export interface ChaosJob {
  request: AgentJobRequest;
  idempotencyKey: string;
  /** Cancelled so long after it was accepted; null: never. */
  cancelAfterMs: number | null;
  /** The address that only this job pays, so that its effect is visible on the chain. */
  receiver: Address;
}

type Kind = (chain: DevnetWithProtocols, receiver: Address, number: number) => Omit<AgentJobRequest, 'wallet'>;

const transferCoins: Kind = (_, to) => ({ operation: 'transfer', input: { to, amount: '0.001' } });
const transferUsdc: Kind = (_, to) => ({ operation: 'transfer', input: { to, amount: '0.25', token: 'USDC' } });
const mintNft: Kind = ({ contracts }, to, number) => ({
  operation: 'mintERC721',
  input: { contractAddress: contracts.nft, tokenId: String(1_000_000 + number), to },
});
const approve: Kind = (_, spender) => ({ operation: 'approve', input: { token: 'USDC', spender, amount: '3' } });
const wrap: Kind = () => ({ operation: 'swap', input: { fromToken: '0x0', toToken: 'WSEI', amount: '0.01' } });
const swap: Kind = () => ({ operation: 'swap', input: { fromToken: 'USDC', toToken: 'WSEI', amount: '0.5' } });
const stake: Kind = () => ({ operation: 'stake', input: { amount: '0.1' } });
const lend: Kind = () => ({ operation: 'mintLending', input: { symbol: 'USDC', amount: '0.5' } });
const deposit: Kind = () => ({ operation: 'perpsDeposit', input: { amount: '0.5' } });

/** How many of fifty are of which kind; the last three need an approval first, so they are two steps. */
const KINDS: readonly [number, Kind][] = [
  [11, transferCoins],
  [10, transferUsdc],
  [7, mintNft],
  [4, approve],
  [4, wrap],
  [6, stake],
  [5, swap],
  [2, lend],
  [1, deposit],
];

/** How many purchases there are beside them, where there is a shop. */
const PURCHASES = 10;

/**
 * The same jobs for the same random numbers, over all the wallets; every tenth is cancelled at some time. `shopUrl`: what
 * takes signed payments.
 */
export function planAgentJobs(
  chain: DevnetWithProtocols,
  { count, wallets, random, shopUrl }: { count: number; wallets: readonly string[]; random: Random; shopUrl?: string },
): ChaosJob[] {
  const buy: Kind = (_chain, _to, number) => ({ operation: 'payment', input: { url: `${shopUrl}?job=${number}` } });
  const kinds: typeof KINDS = shopUrl === undefined ? KINDS : [...KINDS, [PURCHASES, buy]];
  const deck = kinds.flatMap(([share, kind]) => Array.from({ length: share }, () => kind));
  return Array.from({ length: count }, (_, number) => {
    const receiver = getAddress(
      `0xc4a05${(random.below(2 ** 31) * 1_000_000 + number).toString(16).padStart(35, '0')}`,
    );
    return {
      request: { wallet: random.pick(wallets), ...random.pick(deck)(chain, receiver, number) },
      idempotencyKey: `chaos-${number}`,
      cancelAfterMs: random.below(10) === 0 ? random.below(400) : null,
      receiver,
    };
  });
}
