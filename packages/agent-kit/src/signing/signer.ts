import type { LocalAccount } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import { AgentKitError } from '../types/agent-kit-error.js';

/**
 * The account that signs for a key. The key stays in a closure of viem, so no object that could be logged holds it.
 * @param privateKey 32 bytes in hexadecimal, with or without `0x`; space around it, such as the line break of a file, is dropped.
 * @throws AgentKitError `Invalid private key` (specification, section "Errors"), which does not contain the value, and
 * has no cause, whose text may quote the key.
 */
export function createSigner(privateKey: string): LocalAccount {
  const match = typeof privateKey === 'string' ? /^(?:0x)?([0-9a-f]{64})$/i.exec(privateKey.trim()) : null;
  try {
    if (match?.[1]) return privateKeyToAccount(`0x${match[1]}`);
  } catch {
    // Zero, or beyond the order of the curve.
  }
  throw new AgentKitError('INVALID_PRIVATE_KEY', 'Invalid private key');
}
