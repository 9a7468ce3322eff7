import { PERMIT2_ADDRESS, type Hex, type PaymentToSign } from '@tollgate/protocol';
import { parseAbi, type PublicClient } from 'viem';

const abi = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function nonceBitmap(address owner, uint256 word) view returns (uint256)',
]);

/** The terms of a signed payment; of an authorization, with its token. */
type KnownTerms =
  | (Pick<Extract<PaymentToSign, { kind: 'authorization' }>, 'kind' | 'authorization'> & { token: { asset: Hex } })
  | Extract<PaymentToSign, { kind: 'permit2' }>;

/**
 * What a final block shows of a signed payment. `used`: it has moved tokens, or its payer has cancelled it. `void`: it was
 * not used and is past its end, so it can never move any. `open`: neither yet.
 * @throws what the client throws
 */
export async function readPaymentState(client: PublicClient, payment: KnownTerms): Promise<'open' | 'used' | 'void'> {
  const { timestamp, number: blockNumber } = await client.getBlock({ blockTag: 'finalized' });
  if (payment.kind === 'authorization') {
    const { from, nonce, validBefore } = payment.authorization;
    const call = { address: payment.token.asset, abi, functionName: 'authorizationState', blockNumber } as const;
    if (await client.readContract({ ...call, args: [from, nonce] })) return 'used';
    return timestamp < BigInt(validBefore) ? 'open' : 'void';
  }
  const { from, nonce, deadline } = payment.permit2Authorization;
  // A nonce is one bit of a 256-bit word.
  const call = { address: PERMIT2_ADDRESS, abi, functionName: 'nonceBitmap', blockNumber } as const;
  const word = await client.readContract({ ...call, args: [from, BigInt(nonce) >> 8n] });
  if ((word >> (BigInt(nonce) & 0xffn)) % 2n === 1n) return 'used';
  // Permit2 accepts it in a block of exactly that second.
  return timestamp <= BigInt(deadline) ? 'open' : 'void';
}
