import { stringToBytes } from 'viem';
import { z } from 'zod';

import { absentOr, amountSchema, resourceUrlSchema } from './input-schemas.js';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_HEADERS = 20;
const MAX_HEADER_LENGTH = 1_024;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * Headers that an input must not have: those of the connection, those of the payment, and credentials. A program gives
 * credentials by the option `payments.headers`, where no model and no plan sees them.
 */
const REFUSED =
  /^(?:connection|keep-alive|te|trailer|transfer-encoding|upgrade|content-length|host|expect|proxy-.*|x-payment.*|payment-.*|sign-in-with-x|authorization|cookie)$/i;

const headersSchema = z
  .record(z.string(), z.string().max(MAX_HEADER_LENGTH))
  .refine((headers) => Object.keys(headers).length <= MAX_HEADERS, `must be at most ${MAX_HEADERS}`)
  .refine((headers) => Object.keys(headers).every((name) => /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(name)), {
    error: 'a name is not that of a header',
  })
  .refine((headers) => Object.values(headers).every((value) => /^[\t -~]*$/.test(value)), {
    error: 'a value must be printable ASCII on one line',
  })
  .refine((headers) => !Object.keys(headers).some((name) => REFUSED.test(name)), {
    error: 'must not be headers of the connection, of the payment, or credentials',
  });

/** What is bought: the request, and the most that it may cost. */
export const resourceInputSchema = z
  .object({
    url: resourceUrlSchema.describe('URL of the resource'),
    maxAmount: absentOr(amountSchema).describe('Maximum price, in whole units of the token; default 0.01'),
    method: absentOr(z.enum(METHODS)).describe('Default GET'),
    body: absentOr(
      z
        .string()
        .refine((text) => stringToBytes(text).length <= MAX_BODY_BYTES, `must be at most ${MAX_BODY_BYTES} bytes`),
    ).describe('Body, as text; JSON unless headers say otherwise'),
    headers: absentOr(headersSchema).describe('Headers by name; no credentials'),
  })
  .refine(({ method = 'GET', body }) => method !== 'GET' || body === undefined, 'a GET has no body');
