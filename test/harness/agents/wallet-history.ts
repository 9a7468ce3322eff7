import type { Hex } from 'viem';

import { callRpc, callRpcBatch } from '../../../tools/devnet/processes/json-rpc.js';

export interface SentTransaction {
  from: Hex;
  to: Hex | null;
  nonce: number;
  hash: Hex;
  input: Hex;
}

const BLOCKS_PER_BATCH = 100;

/** Every transaction of these wallets on the chain as it stands, by wallet (lower case) and nonce. */
export async function readWalletHistory(
  rpcUrl: string,
  wallets: readonly Hex[],
  fromBlock = 0,
): Promise<Map<Hex, SentTransaction[]>> {
  const history = new Map(wallets.map((wallet) => [wallet.toLowerCase() as Hex, [] as SentTransaction[]]));
  const head = Number(await callRpc(rpcUrl, 'eth_blockNumber'));
  for (let first = fromBlock; first <= head; first += BLOCKS_PER_BATCH) {
    const numbers = Array.from({ length: Math.min(BLOCKS_PER_BATCH, head + 1 - first) }, (_, index) => first + index);
    const blocks = (await callRpcBatch(
      rpcUrl,
      numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [`0x${number.toString(16)}`, true] })),
    )) as { transactions: (Omit<SentTransaction, 'nonce'> & { nonce: Hex })[] }[];
    for (const transaction of blocks.flatMap(({ transactions }) => transactions)) {
      history.get(transaction.from)?.push({ ...transaction, nonce: Number(transaction.nonce) });
    }
  }
  for (const transactions of history.values()) transactions.sort((one, other) => one.nonce - other.nonce);
  return history;
}
