import { PaymentError, type HeadFees, type Hex } from '@tollgate/protocol';
import type { PublicClient } from 'viem';

import type { Call } from './account.js';

/** A sent transaction that is not mined. */
interface PendingTransaction {
  call: Call;
  nonce: number;
  fees: HeadFees;
}

/** @throws PaymentError `cannot_pay` when the account has no such transaction waiting, or what the client throws */
export async function readPending(client: PublicClient, address: Hex, hash: Hex): Promise<PendingTransaction> {
  const found = await client.getTransaction({ hash });
  const { from, to, input: data, value, nonce, blockNumber, maxFeePerGas, maxPriorityFeePerGas, gasPrice } = found;
  if (blockNumber !== null || to === null || from.toLowerCase() !== address.toLowerCase()) {
    throw new PaymentError('cannot_pay', `The transaction ${hash} is not one of this account that waits to be mined.`, {
      hint: 'Only such a transaction can be replaced.',
      details: { txHash: hash },
    });
  }
  const fees: HeadFees =
    maxFeePerGas === undefined || maxPriorityFeePerGas === undefined
      ? { type: 'legacy', gasPrice: gasPrice ?? 0n }
      : { type: 'eip1559', maxFeePerGas, maxPriorityFeePerGas };
  return { call: { to, data, value }, nonce, fees };
}
