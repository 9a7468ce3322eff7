import type { ChainReader } from '@tollgate/chain';
import { recoverAccount } from '@tollgate/crypto';
import { proofMessage, type Hex } from '@tollgate/protocol';
import { hashMessage } from 'viem';

import type { LookUps } from '../limits/client-shares.js';

export interface ProofSignature {
  reference: string;
  txHash: Hex;
  signature: Hex;
  deadlineMs: number;
}

/** The chain to ask contracts on, and the client share to charge. */
export interface AskedContracts {
  chain: Pick<ChainReader, 'isContractSignature'>;
  lookUps: LookUps;
}

/** A transaction may hold transfers of any number of payers; at most this many contracts are asked. */
const MAX_CONTRACTS = 4;

/** The payers that signed reference and transaction hash: an account by EIP-191, otherwise contracts by EIP-1271. */
export async function findSigners(
  proof: ProofSignature,
  payers: ReadonlySet<Hex>,
  { chain, lookUps }: AskedContracts,
): Promise<ReadonlySet<Hex>> {
  const hash = hashMessage(proofMessage(proof.reference, proof.txHash));
  const account = recoverAccount(hash, proof.signature);
  if (account !== null && payers.has(account)) return new Set([account]);
  const asked = [...payers].slice(0, MAX_CONTRACTS);
  const answers = await Promise.all(
    asked.map((signer) =>
      chain.isContractSignature({ signer, hash, signature: proof.signature }, proof.deadlineMs, lookUps),
    ),
  );
  return new Set(asked.filter((_, index) => answers[index]));
}
