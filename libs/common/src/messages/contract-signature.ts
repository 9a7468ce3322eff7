import type { Hex } from '@tollgate/protocol';

/** Sent to any verifier over `VERIFY_QUEUE`. */
export const VERIFY_CONTRACT_SIGNATURE = 'verify-contract-signature.v1';

export interface VerifyContractSignatureRequest {
  requestId: string;
  /** On the clock of the ledger's Redis. */
  deadlineMs: number;
  chainId: number;
  /** The contract that checks whether this is its signature (EIP-1271). */
  signer: Hex;
  hash: Hex;
  signature: Hex;
  /** The client whose share of look-ups is charged. */
  clientAddress: string;
}

export type ContractSignatureVerdict =
  | { outcome: 'signed' }
  /** There is no contract, or it rejects the signature, or it fails. */
  | { outcome: 'not_signed' }
  /** Unknown for now; never counts as rejected. */
  | { outcome: 'unavailable'; reason: string };
