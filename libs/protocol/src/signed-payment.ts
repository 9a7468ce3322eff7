import type { Hex } from './hex.js';

/** An EIP-3009 `transferWithAuthorization` as its payer signed it. Amounts are base units, times seconds, as decimal text. */
export interface TransferAuthorization {
  from: Hex;
  to: Hex;
  value: string;
  validAfter: string;
  validBefore: string;
  /** 32 bytes that the token takes once per payer. */
  nonce: Hex;
}

/** A payment that its payer signed and somebody else sends: nothing has moved before it is settled. */
export interface SignedPayment {
  kind: 'authorization';
  authorization: TransferAuthorization;
  /** 65 bytes of an account, any other length of a contract (EIP-1271), or wrapped for one that is not deployed (EIP-6492). */
  signature: Hex;
}
