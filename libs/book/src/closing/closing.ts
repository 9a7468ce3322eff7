import { keccak256OfBytes, recoverAccount } from '@tollgate/crypto';
import { canonicalJson, type Hex } from '@tollgate/protocol';
import { z } from 'zod';

const digest = z.string().regex(/^[0-9a-f]{64}$/);

/** What a closing says: which bookings it covers, their root, and the closing before it. */
const closingContent = z.object({
  version: z.literal(1),
  number: z.int(),
  day: z.string().describe('UTC, `2026-11-25`.'),
  firstBooking: z.int(),
  lastBooking: z.int(),
  root: digest.describe('The Merkle root over the content hashes of these bookings.'),
  chainHash: digest.describe('The chain hash of the last booking, which covers every booking before it.'),
  previous: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/)
    .nullable()
    .describe('The hash of the closing before; null for the first.'),
});
export type ClosingContent = z.output<typeof closingContent>;

export const signedClosing = z.object({
  content: closingContent,
  hash: z.string().describe("keccak256 of the content's canonical JSON."),
  signer: z.string().describe('In lower case.'),
  signature: z.string().describe('r, s and v.'),
});
export type SignedClosing = z.output<typeof signedClosing>;

export function closingBytes(content: ClosingContent): Uint8Array {
  return Buffer.from(canonicalJson({ ...content }));
}

export function closingHash(content: ClosingContent): Hex {
  return keccak256OfBytes(closingBytes(content));
}

/** The account that signed this content, in lower case; null when the hash or the signature does not fit it. */
export function signerOf({ content, hash, signature }: Omit<SignedClosing, 'signer'>): string | null {
  const expected = closingHash(content);
  return hash === expected && /^0x[0-9a-f]+$/i.test(signature) ? recoverAccount(expected, signature as Hex) : null;
}

/** Null when the value is no closing. */
export function parseClosing(value: unknown): ClosingContent | null {
  return closingContent.safeParse(value).data ?? null;
}
