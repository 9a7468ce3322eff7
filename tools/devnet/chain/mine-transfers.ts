import { numberToHex, type Hex } from 'viem';

import { callRpc, callRpcBatch } from '../processes/json-rpc.js';
import type { Devnet } from './chain.js';
import { encodeTransfer } from './transfer-tokens.js';

// Anvil's pool slows down with its size, and its signing uses several cores: small blocks, batches side by side.
const BATCH_SIZE = 250;
const TRANSFERS_PER_BLOCK = 1_000;

export interface BulkTransfers {
  count: number;
  amountBaseUnits: bigint;
  /** One challenge reference per transfer, to lock it with. */
  lockReferences?: readonly string[];
  /** Default 1,000. Anvil takes longer to find a transaction the more there are in its block. */
  transfersPerBlock?: number;
}

/**
 * Makes many token transfers at once, thousands per second: the accounts are unlocked, so anvil signs, and a block takes
 * thousands. Returns the transaction hashes in order. Not for two callers of one chain at the same time.
 */
export async function mineTransfers(chain: Devnet, transfers: BulkTransfers): Promise<Hex[]> {
  const isAutomine = (await callRpc(chain.rpcUrl, 'anvil_getAutomine')) === true;
  if (isAutomine) await callRpc(chain.rpcUrl, 'evm_setAutomine', [false]);
  try {
    const hashes: Hex[] = [];
    const { transfersPerBlock = TRANSFERS_PER_BLOCK } = transfers;
    for (let start = 0; start < transfers.count; start += transfersPerBlock) {
      const end = Math.min(start + transfersPerBlock, transfers.count);
      hashes.push(...(await mineBlockOfTransfers(chain, transfers, start, end)));
    }
    return hashes;
  } finally {
    if (isAutomine) await callRpc(chain.rpcUrl, 'evm_setAutomine', [true]);
  }
}

async function mineBlockOfTransfers(
  chain: Devnet,
  transfers: BulkTransfers,
  start: number,
  end: number,
): Promise<Hex[]> {
  const senders = await readNonces(chain);
  const { lockReferences } = transfers;
  const unlocked = encodeTransfer(chain, transfers);
  const calls = Array.from({ length: end - start }, (_, offset) => {
    const [sender, firstNonce] = senders[offset % senders.length] ?? [];
    const lockReference = lockReferences?.[start + offset];
    const data = lockReference === undefined ? unlocked : encodeTransfer(chain, { ...transfers, lockReference });
    const transaction = {
      from: sender,
      to: chain.asset,
      nonce: numberToHex((firstNonce ?? 0) + Math.floor(offset / senders.length)),
      gas: numberToHex(100_000),
      maxFeePerGas: numberToHex(1_000_000_000_000n),
      maxPriorityFeePerGas: '0x0',
      data,
    };
    return { method: 'eth_sendTransaction', params: [transaction] };
  });

  const batches = Array.from({ length: Math.ceil(calls.length / BATCH_SIZE) }, (_, index) =>
    callRpcBatch(chain.rpcUrl, calls.slice(index * BATCH_SIZE, (index + 1) * BATCH_SIZE)),
  );
  const hashes = (await Promise.all(batches)).flat() as Hex[];
  await mineUntilEmpty(chain);
  return hashes;
}

async function readNonces(chain: Devnet): Promise<[Hex, number][]> {
  const counts = (await callRpcBatch(
    chain.rpcUrl,
    chain.bulkSenders.map((sender) => ({ method: 'eth_getTransactionCount', params: [sender, 'latest'] })),
  )) as Hex[];
  return chain.bulkSenders.map((sender, index) => [sender, Number(counts[index])]);
}

async function mineUntilEmpty(chain: Devnet): Promise<void> {
  for (let blocks = 0; blocks < 100; blocks++) {
    await callRpc(chain.rpcUrl, 'evm_mine');
    const { pending, queued } = (await callRpc(chain.rpcUrl, 'txpool_status')) as { pending: Hex; queued: Hex };
    if (Number(pending) + Number(queued) === 0) return;
  }
  throw new Error('the bulk transfers were not all mined in 100 blocks');
}
