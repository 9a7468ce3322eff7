export type Hex = `0x${string}`;

/**
 * What a claim is about. `transfer`: one `Transfer` log. `transaction`: a whole transaction (policy `receipt`).
 * `authorization`: a transfer caused by an EIP-3009 authorization, the same payment whichever way it is presented.
 */
export type PaymentId =
  | { kind: 'transfer'; chainId: number; txHash: Hex; logIndex: number }
  | { kind: 'transaction'; chainId: number; txHash: Hex }
  | { kind: 'authorization'; chainId: number; asset: Hex; from: Hex; nonce: Hex };
