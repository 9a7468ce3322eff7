import type { Hex } from '@tollgate/protocol';

/** Asked of any verifier, in `VERIFY_QUEUE`. */
export const VERIFY_CONTRACT_SIGNATURE = 'verify-contract-signature.v1';

export interface VerifyContractSignatureRequest {
  requestId: string;
  /** On the clock of the ledger's Redis. */
  deadlineMs: number;
  chainId: number;
  /** The contract that is asked whether this is a signature of its own (EIP-1271). */
  signer: Hex;
  hash: Hex;
  signature: Hex;
  /** For the share of look-ups one client may have. */
  clientAddress: string;
}

export type ContractSignatureVerdict =
  | { outcome: 'signed' }
  /** There is no contract, or it says no, or fails. */
  | { outcome: 'not_signed' }
  /** Nobody can tell now: never a no. */
  | { outcome: 'unavailable'; reason: string };
