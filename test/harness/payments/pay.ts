import { encodeProof, parseChallenge, type Hex, type PaymentRequirement } from '@tollgate/protocol';

import { transferTokens, type TransferChain } from '../../../tools/devnet/chain/transfer-tokens.js';

/** A payment that was mined, and the header that redeems it. */
export interface Paid {
  txHash: Hex;
  reference: string;
  proof: string;
}

/** Reads the payment requirements of a request, without a payment. */
export async function readRequirement(url: string, init: RequestInit = {}): Promise<PaymentRequirement> {
  const response = await fetch(url, init);
  if (response.status !== 402) throw new Error(`${url} answered ${response.status} and no challenge`);
  const [requirement] = parseChallenge(await response.json()).accepts;
  if (requirement === undefined) throw new Error(`${url} accepts nothing`);
  return requirement;
}

/** Pays the price of a request by a transfer that is locked to its challenge. */
export async function payLocked(chain: TransferChain, url: string, init: RequestInit = {}): Promise<Paid> {
  const { extra, maxAmountRequired } = await readRequirement(url, init);
  const { reference } = extra;
  const txHash = await transferTokens(chain, { amountBaseUnits: BigInt(maxAmountRequired), lockReference: reference });
  return { txHash, reference, proof: createProof(txHash, { reference }) };
}

/** The header's value for a transaction. */
export function createProof(
  txHash: string,
  payload: { reference?: string; signature?: Hex } = {},
  network = 'chain-testnet',
): string {
  return encodeProof({
    x402Version: 1,
    scheme: 'exact',
    network,
    payload: { txHash: txHash as Hex, ...payload },
  });
}

/** The outcome of a request, for a comparison in one line: its status, and the failure's code if there is one. */
export async function outcomeOf(answer: Response | Promise<Response>): Promise<[number, string | null]> {
  const response = await answer;
  await response.arrayBuffer();
  return [response.status, response.headers.get('X-Payment-Failure')];
}
