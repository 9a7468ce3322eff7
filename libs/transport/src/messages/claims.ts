import type { Lease, PaymentId } from '@tollgate/ledger';
import type { PaymentFailure } from '@tollgate/protocol';
import { address, hash32, milliseconds, natural } from '@tollgate/schemas';
import { z } from 'zod';

const paymentId = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('transfer'), chainId: natural, txHash: hash32, logIndex: natural }),
  z.object({ kind: z.literal('transaction'), chainId: natural, txHash: hash32 }),
  z.object({ kind: z.literal('authorization'), chainId: natural, asset: address, from: address, nonce: hash32 }),
  z.object({ kind: z.literal('permit2'), chainId: natural, owner: address, nonce: z.string() }),
]) satisfies z.ZodType<PaymentId>;

/** The right to answer for a payment, as the ledger gave it to the asker. */
export const lease = z.object({
  id: paymentId,
  owner: z.string(),
  generation: natural,
  untilMs: milliseconds,
}) satisfies z.ZodType<Lease>;

/** What the ledger says of a payment that the asker cannot have. */
export const taken = [
  z.object({ outcome: z.literal('answered'), id: paymentId }),
  z.object({ outcome: z.literal('busy'), retryAfterMs: milliseconds }),
  /** What it pays for is busy, and is not to be asked before then. */
  z.object({ outcome: z.literal('paused'), retryAfterMs: milliseconds }),
  z.object({ outcome: z.literal('conflict') }),
] as const;

/** A verifier of another release may have one that this release does not know. */
export const failure = z.custom<PaymentFailure>((code) => typeof code === 'string');

/** Not known for now (chain or ledger unreachable, a verifier with other settings); never counts as refused. */
export const unavailable = z.object({
  outcome: z.literal('unavailable'),
  reason: z.string(),
  retryAfterMs: milliseconds.exactOptional(),
  /** With reason `settings_differ`: the verifier's; missing where they agree and the question's terms do not. */
  settings: z.string().exactOptional(),
});
