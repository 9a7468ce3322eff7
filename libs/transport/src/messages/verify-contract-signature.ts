import { MAX_SIGNATURE_BYTES } from '@tollgate/protocol';
import { address, hash32, hexBytes, natural } from '@tollgate/schemas';
import { z } from 'zod';

import { unavailable } from './claims.js';
import { asked } from './question.js';

/** A gateway asks any verifier whether a contract accepts a signature as its own. */
export const VERIFY_CONTRACT_SIGNATURE = 'verify-contract-signature.v1';

export const verifyContractSignatureRequest = z.object({
  ...asked,
  chainId: natural,
  /** The contract that checks whether this is its signature (EIP-1271). */
  signer: address,
  hash: hash32,
  signature: hexBytes.refine(({ length }) => length <= 2 + 2 * MAX_SIGNATURE_BYTES),
});
export type VerifyContractSignatureRequest = z.output<typeof verifyContractSignatureRequest>;

export const contractSignatureVerdict = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('signed') }),
  /** There is no contract, or it rejects the signature, or it fails. */
  z.object({ outcome: z.literal('not_signed') }),
  unavailable,
]);
export type ContractSignatureVerdict = z.output<typeof contractSignatureVerdict>;
