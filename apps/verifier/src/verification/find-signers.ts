import { proofMessage, type Hex } from '@tollgate/protocol';
import { hashMessage, recoverAddress } from 'viem';

import type { ChainReader } from '../chain/chain-reader.js';

export interface SignedProof {
  reference: string;
  txHash: Hex;
  signature: Hex;
  deadlineMs: number;
}

/** r, s and v: anything else only a contract can understand. */
const RECOVERABLE_LENGTH = 2 + 65 * 2;
/** A transaction may hold transfers of any number of payers; so many contracts are asked. */
const MAX_CONTRACTS = 4;

/**
 * Which of the payers signed reference and transaction hash: an account by EIP-191, or else contracts by EIP-1271.
 * Recovery costs some 1.5 ms of one core.
 */
export async function findSigners(
  proof: SignedProof,
  payers: ReadonlySet<Hex>,
  chain: ChainReader,
): Promise<ReadonlySet<Hex>> {
  const hash = hashMessage(proofMessage(proof.reference, proof.txHash));
  const account = await recoverAccount(hash, proof.signature);
  if (account !== null && payers.has(account)) return new Set([account]);
  const asked = [...payers].slice(0, MAX_CONTRACTS);
  const answers = await Promise.all(
    asked.map((signer) => chain.isContractSignature({ signer, hash, signature: proof.signature }, proof.deadlineMs)),
  );
  return new Set(asked.filter((_, index) => answers[index]));
}

async function recoverAccount(hash: Hex, signature: Hex): Promise<Hex | null> {
  if (signature.length !== RECOVERABLE_LENGTH) return null;
  try {
    return (await recoverAddress({ hash, signature })).toLowerCase() as Hex;
  } catch {
    // Not a point of the curve: whatever it is, it is not an account's signature.
    return null;
  }
}
