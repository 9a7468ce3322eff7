import type { Lease, PaymentId } from '@tollgate/ledger';
import { isRecord, listSignedMethods, ownField, type IdField, type PaymentFailure } from '@tollgate/protocol';
import { address, hash32, milliseconds, natural } from '@tollgate/schemas';
import { z } from 'zod';

/** The schemas of ids, by kind; that of a method is added when the first id of it is read. */
const IDS = new Map<unknown, z.ZodType>([
  ['transfer', z.object({ kind: z.literal('transfer'), chainId: natural, txHash: hash32, logIndex: natural })],
  ['transaction', z.object({ kind: z.literal('transaction'), chainId: natural, txHash: hash32 })],
]);
const FIELDS: Readonly<Record<IdField, z.ZodType>> = { address, hash: hash32, decimal: z.string() };

function schemaOf(kind: unknown): z.ZodType | undefined {
  const method = IDS.has(kind) ? undefined : listSignedMethods().find((one) => one.kind === kind);
  if (method !== undefined) {
    const fields = Object.entries(method.id.fields).map(([name, field]) => [name, FIELDS[field]]);
    IDS.set(kind, z.object({ kind: z.literal(method.kind), chainId: natural, ...Object.fromEntries(fields) }));
  }
  return IDS.get(kind);
}

const paymentId = z.transform((value: unknown, { issues }): PaymentId => {
  const read = schemaOf(isRecord(value) && ownField(value, 'kind'))?.safeParse(value);
  if (read?.success === true) return read.data as PaymentId;
  issues.push({ code: 'custom', input: value, path: [...(read?.error.issues[0]?.path ?? ['kind'])] });
  return z.NEVER;
});

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
