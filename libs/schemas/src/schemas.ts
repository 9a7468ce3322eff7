import {
  isAddress,
  isBaseUnits,
  isHash,
  isHexBytes,
  isHexData,
  lowerHex,
  parseSignedPayment,
  PaymentError,
  type Hex,
} from '@tollgate/protocol';
import { z } from 'zod';

/** Hexadecimal text in any letter case, which is parsed to lower case. */
function hexText(is: (value: unknown) => value is Hex) {
  return z.transform((value: unknown, { issues }): Hex => {
    if (is(value)) return lowerHex(value);
    issues.push({ code: 'custom', input: value });
    return z.NEVER;
  });
}

/** 20 bytes. */
export const address = hexText(isAddress);
/** 32 bytes. */
export const hash32 = hexText(isHash);
/** One or more bytes. */
export const hexBytes = hexText(isHexBytes);
/** Any number of bytes, also none: `0x`. */
export const hexData = hexText(isHexData);
/** Base units or wei, as decimal text. */
export const baseUnits = z.string().refine(isBaseUnits);
/** Also a block's number, a log's index, a count. */
export const natural = z.int().nonnegative();
/** Milliseconds since 1970, or a duration in milliseconds; clocks that are compared with Redis's have fractions. */
export const milliseconds = z.number().nonnegative();

/** A payment with its payer's signature, of any method, as payers send it. */
export const signedPayment = z.transform((value: unknown, { issues }) => {
  try {
    return parseSignedPayment(value);
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    issues.push({ code: 'custom', input: value });
    return z.NEVER;
  }
});

/**
 * The message or record does not have the shape of its version. Its writer is a process of another release, or none of
 * ours.
 */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError';
}

/** Parses what another process wrote; fields that the schema does not have are dropped. @throws MalformedMessageError */
export function parseMessage<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const field = error.issues[0]?.path.findLast((step) => typeof step === 'string') ?? 'message';
  throw new MalformedMessageError(`The message's "${field}" is missing or malformed.`);
}
