import type { Hex } from '@tollgate/protocol';
import { privateKeyToAccount } from 'viem/accounts';

import type { LaneSigner } from './ports.js';

/** Signs with a private key of this process. The key stays in the closure: it is on no object that could be printed. */
export function createKeySigner(privateKey: Hex): LaneSigner {
  const account = privateKeyToAccount(privateKey);
  return {
    address: account.address.toLowerCase() as Hex,
    sign: (transaction) => account.signTransaction({ type: 'eip1559', ...transaction }),
  };
}
