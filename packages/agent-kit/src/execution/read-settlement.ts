import { decodeJsonHeader, ownField, PAYMENT_RECEIPT, PAYMENT_RESPONSE, X_PAYMENT_RESPONSE } from '@tollgate/protocol';
import {
  erc20Abi,
  isAddressEqual,
  isHash,
  numberToHex,
  parseEventLogs,
  type Address,
  type Hex,
  type PublicClient,
} from 'viem';

import type { PaymentTerms } from '../types/plan.js';

const MAX_HEADER_BYTES = 16 * 1024;
/** Where x402 and MPP name the transaction. */
const FIELDS = ['transaction', 'reference'];

/** The transaction that settled a signature, as the server names it; null if it names none. */
export function readNamedSettlement(headers: Headers): Hex | null {
  for (const name of [PAYMENT_RESPONSE, X_PAYMENT_RESPONSE, PAYMENT_RECEIPT]) {
    const receipt = decode(headers.get(name));
    const hash = FIELDS.map((field) => ownField(receipt, field)).find(
      (text) => typeof text === 'string' && isHash(text),
    );
    if (hash !== undefined) return hash;
  }
  return null;
}

function decode(header: string | null): Record<string, unknown> {
  try {
    return header === null ? {} : decodeJsonHeader(header, MAX_HEADER_BYTES);
  } catch {
    return {};
  }
}

/** A signed payment. */
interface SignedPayment extends Pick<PaymentTerms, 'payTo' | 'amount'> {
  payer: Address;
  nonce: string;
}

/**
 * The amount that the transaction moved for the payment. Null if the chain does not show now that it did: it must have the
 * payment's own nonce, because a server may name any transaction.
 */
export async function readSettledAmount(
  client: PublicClient,
  hash: Hex,
  { payer, payTo, amount, nonce }: SignedPayment,
): Promise<bigint | null> {
  const reading = Promise.all([client.getTransactionReceipt({ hash }), client.getTransaction({ hash })]);
  const [receipt, transaction] = await reading.catch(() => []);
  const isOwn = transaction?.input.includes(numberToHex(BigInt(nonce), { size: 32 }).slice(2)) ?? false;
  if (receipt?.status !== 'success' || !isOwn) return null;
  const transfers = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs: receipt.logs });
  const own = transfers.find(
    ({ address, args }) =>
      isAddressEqual(address, amount.token.address) &&
      isAddressEqual(args.from, payer) &&
      isAddressEqual(args.to, payTo) &&
      args.value <= amount.amountBaseUnits,
  );
  return own?.args.value ?? null;
}
