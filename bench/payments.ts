import { encodeProof, type Hex } from '@tollgate/protocol';

import type { Devnet } from '../tools/devnet/chain/chain.js';
import { mineTransfers } from '../tools/devnet/chain/mine-transfers.js';
import { preload } from './replay-node.js';

const PRICE_BASE_UNITS = 1000n;
const NETWORK = 'chain-testnet';
const CHALLENGES_AT_ONCE = 32;
const TRANSFERS_PER_BLOCK = 50;

/** `bare`: a plain token transfer. `locked`: one that carries the hash lock of a challenge given out before. */
export type PaymentKind = 'bare' | 'locked';

/**
 * Pays that many times on the chain and gives the values of the payment header. Mined when this returns, and known to
 * the replay node.
 */
export async function makePayments(
  chain: Devnet,
  { kind, count, url, node }: { kind: PaymentKind; count: number; url: string; node: string },
): Promise<string[]> {
  const references = kind === 'locked' ? await askForReferences(url, count) : undefined;
  const hashes = await mineTransfers(chain, {
    count,
    amountBaseUnits: PRICE_BASE_UNITS,
    transfersPerBlock: TRANSFERS_PER_BLOCK,
    ...(references ? { lockReferences: references } : {}),
  });
  await preload(node, hashes);
  return hashes.map((txHash, index) => encodePayment(txHash, references?.[index]));
}

function encodePayment(txHash: Hex, reference: string | undefined): string {
  return encodeProof({
    x402Version: 1,
    scheme: 'exact',
    network: NETWORK,
    payload: { txHash, amount: String(PRICE_BASE_UNITS), ...(reference === undefined ? {} : { reference }) },
  });
}

async function askForReferences(url: string, count: number): Promise<string[]> {
  const references: string[] = [];
  const worker = async () => {
    while (references.length < count) {
      const response = await fetch(url);
      const { accepts } = (await response.json()) as { accepts: { extra: { reference: string } }[] };
      references.push(accepts[0]?.extra.reference ?? '');
    }
  };
  await Promise.all(Array.from({ length: CHALLENGES_AT_ONCE }, worker));
  return references.slice(0, count);
}
