import type { Address, Hex, LocalAccount, TransactionSerializable } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import { AgentKitError } from '../types/agent-kit-error.js';

/** Signs for one account. The key stays in the closure, so no object that could be logged holds it. */
export interface Signer {
  readonly address: Address;
  sign(transaction: TransactionSerializable): Promise<Hex>;
  /** For the paying client, which signs its own transfers. */
  account(): LocalAccount;
}

/**
 * @param privateKey 32 bytes in hexadecimal, with or without `0x`.
 * @throws AgentKitError `Invalid private key` (specification, section "Errors"), which does not contain the value.
 */
export function createSigner(privateKey: string): Signer {
  const account = readAccount(privateKey);
  return {
    address: account.address,
    sign: (transaction) => account.signTransaction(transaction),
    account: () => account,
  };
}

/** Without the cause, whose text may quote the key. */
function readAccount(privateKey: unknown): LocalAccount {
  const match = typeof privateKey === 'string' ? /^(?:0x)?([0-9a-f]{64})$/i.exec(privateKey) : null;
  try {
    if (match?.[1]) return privateKeyToAccount(`0x${match[1]}`);
  } catch {
    // Zero, or beyond the order of the curve.
  }
  throw new AgentKitError('INVALID_PRIVATE_KEY', 'Invalid private key');
}
