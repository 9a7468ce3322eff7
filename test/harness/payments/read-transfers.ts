import { decodeEventLog, encodeEventTopics, numberToHex, parseAbi, type Hex } from 'viem';

import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';

const ABI = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
]);

/** A transfer of the devnet's token as the chain has it. */
export interface TokenTransferred {
  /** Lower case. */
  from: Hex;
  amountBaseUnits: string;
  txHash: Hex;
  /** The nonce of the authorization that caused it; null for a plain transfer. */
  nonce: Hex | null;
}

interface Log {
  topics: [Hex, ...Hex[]];
  data: Hex;
  transactionHash: Hex;
}

/** The transfers to an account from this block on, in order, and the last block that was read. */
export async function readTransfersTo(
  { rpcUrl, asset }: Devnet,
  to: Hex,
  fromBlock: number,
): Promise<{ transfers: TokenTransferred[]; head: number }> {
  const head = Number(await callRpc(rpcUrl, 'eth_blockNumber'));
  if (head < fromBlock) return { transfers: [], head };
  const range = { address: asset, fromBlock: numberToHex(fromBlock), toBlock: numberToHex(head) };
  const logs = (await callRpc(rpcUrl, 'eth_getLogs', [range])) as Log[];
  const [moved] = encodeEventTopics({ abi: ABI, eventName: 'Transfer' });
  const [used] = encodeEventTopics({ abi: ABI, eventName: 'AuthorizationUsed' });
  const transfers = logs.flatMap(({ topics, data, transactionHash: txHash }, index) => {
    if (topics[0] !== moved) return [];
    const { args } = decodeEventLog({ abi: ABI, eventName: 'Transfer', topics, data });
    if (args.to.toLowerCase() !== to.toLowerCase()) return [];
    // A token logs the nonce of an authorization right before the transfer.
    const before = logs[index - 1];
    const isSigned = before?.transactionHash === txHash && before.topics[0] === used;
    const nonce = (isSigned && before.topics[2]) || null;
    return [{ from: args.from.toLowerCase() as Hex, amountBaseUnits: args.value.toString(), txHash, nonce }];
  });
  return { transfers, head };
}
