import { PERMIT2_ADDRESS, type Hex, type PaymentToSign } from '@tollgate/protocol';
import { parseAbi, type PublicClient } from 'viem';

const abi = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function nonceBitmap(address owner, uint256 word) view returns (uint256)',
]);

/** The terms of a signed payment; of an authorization, with its token. */
type VoidableTerms =
  | (Pick<Extract<PaymentToSign, { kind: 'authorization' }>, 'kind' | 'authorization'> & { token: { asset: Hex } })
  | Extract<PaymentToSign, { kind: 'permit2' }>;

/**
 * Whether a final block past the end of a payment's validity shows that it was not used: it can never move tokens.
 * @throws what the client throws
 */
export async function isPaymentVoid(client: PublicClient, payment: VoidableTerms): Promise<boolean> {
  const { timestamp, number: blockNumber } = await client.getBlock({ blockTag: 'finalized' });
  if (payment.kind === 'authorization') {
    const { from, nonce, validBefore } = payment.authorization;
    if (timestamp < BigInt(validBefore)) return false;
    const call = { address: payment.token.asset, abi, functionName: 'authorizationState', blockNumber } as const;
    return !(await client.readContract({ ...call, args: [from, nonce] }));
  }
  const { from, nonce, deadline } = payment.permit2Authorization;
  // Permit2 accepts it in a block of exactly that second.
  if (timestamp <= BigInt(deadline)) return false;
  // A nonce is one bit of a 256-bit word.
  const call = { address: PERMIT2_ADDRESS, abi, functionName: 'nonceBitmap', blockNumber } as const;
  const word = await client.readContract({ ...call, args: [from, BigInt(nonce) >> 8n] });
  return (word >> (BigInt(nonce) & 0xffn)) % 2n === 0n;
}
