import { appendHashLock, lowerHex, type Hex } from '@tollgate/protocol';
import { encodeFunctionData, erc20Abi } from 'viem';

import type { TransferRequirement } from '../offer/signable-requirement.js';

/** `transfer(payTo, amount)` on the asset, with the hash lock of the reference appended. */
export function createPaymentCall({ asset, payTo, maxAmountRequired, extra }: TransferRequirement): {
  to: Hex;
  data: Hex;
} {
  // In lower case, because the server's spelling may have an invalid mixed-case checksum.
  const args = [lowerHex(payTo), BigInt(maxAmountRequired)] as const;
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
  return { to: asset, data: appendHashLock(transfer, extra.reference) };
}
