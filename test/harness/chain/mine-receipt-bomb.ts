import { numberToHex, type Hex } from 'viem';

import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { waitUntilMined } from '../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../tools/devnet/processes/json-rpc.js';

const GAS_PER_LOG = 450;
const BASE_GAS = 100_000;

/**
 * Mines a transaction that pays nothing and has the given number of empty logs: its receipt is thousands of times as long
 * as the transaction, about 13 MB for 36,000 logs.
 */
export async function mineReceiptBomb(chain: Devnet, { logs }: { logs: number }): Promise<Hex> {
  const count = logs.toString(16).padStart(6, '0');
  // Creation code, which is run once: PUSH3 count; JUMPDEST; LOG0 of nothing; count - 1; again unless that is zero.
  const data: Hex = `0x62${count}5b60006000a0600190038060045700`;
  const transaction = { from: chain.bulkSenders[0], data, gas: numberToHex(BASE_GAS + logs * GAS_PER_LOG) };
  const hash = (await callRpc(chain.rpcUrl, 'eth_sendTransaction', [transaction])) as Hex;
  await waitUntilMined(chain, hash);
  return hash;
}
