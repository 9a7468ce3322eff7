import { decodeJsonHeader, encodeJsonHeader, PAYMENT_REQUIRED, type PaymentRequiredV2 } from '@tollgate/protocol';

import type { Devnet } from '../tools/devnet/chain/chain.js';
import { signAuthorization } from '../tools/devnet/chain/sign-authorization.js';

const MAX_HEADER_BYTES = 65_536;

/**
 * Signs payments to a gate's challenge as the published client of version 2 does, for runs without it; one header value
 * each, by other payers in turn.
 */
export async function signOwnPayments(
  chain: Pick<Devnet, 'accounts' | 'chainId' | 'asset' | 'payTo'>,
  { url, count }: { url: string; count: number },
): Promise<string[]> {
  const challenge = await fetch(url);
  const header = decodeJsonHeader(challenge.headers.get(PAYMENT_REQUIRED) ?? '', MAX_HEADER_BYTES);
  const { resource, accepts, extensions } = header as unknown as PaymentRequiredV2;
  const [accepted] = accepts;
  // The first three accounts are those of the published facilitators.
  const payers = chain.accounts.slice(3);
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const payer = payers[index % payers.length];
      if (!accepted || !payer) throw new Error('The challenge asks for nothing, or the devnet has no payers.');
      const { authorization, signature } = await signAuthorization(chain, payer, { value: accepted.amount });
      return encodeJsonHeader({
        x402Version: 2,
        resource,
        accepted,
        payload: { authorization, signature },
        extensions,
      });
    }),
  );
}
