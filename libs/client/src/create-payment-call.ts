import { appendHashLock, type Hex, type PaymentRequirement } from '@tollgate/protocol';
import { encodeFunctionData, erc20Abi } from 'viem';

/** `transfer(payTo, amount)` on the asset, with the hash lock of the reference behind it. */
export function createPaymentCall({ asset, payTo, maxAmountRequired, extra }: PaymentRequirement): {
  to: Hex;
  data: Hex;
} {
  // In lower case: the server's spelling may fail the checksum of mixed case.
  const args = [payTo.toLowerCase() as Hex, BigInt(maxAmountRequired)] as const;
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
  return { to: asset, data: appendHashLock(transfer, extra.reference) };
}
