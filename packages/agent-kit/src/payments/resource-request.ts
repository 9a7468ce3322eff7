import { parseJson } from '@tollgate/client';
import { z } from 'zod';

import { absentOr, amountSchema, resourceUrlSchema } from '../operations/define/input-schemas.js';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_HEADERS = 20;
const MAX_HEADER_LENGTH = 1_024;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * Headers that nobody gives as an input: those of the connection, those of the payment, and credentials. A program gives
 * credentials by the option `payments.headers`, where no model and no plan sees them.
 */
const REFUSED =
  /^(?:connection|keep-alive|te|trailer|transfer-encoding|upgrade|content-length|host|expect|proxy-.*|x-payment.*|payment-.*|sign-in-with-x|authorization|cookie)$/i;

/** A request for a resource that may cost something. */
export interface ResourceRequest {
  url: string;
  /** GET if omitted. */
  method?: string | undefined;
  body?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

/** Headers of the program's own by origin: `https://api.example.com` -> `{ authorization: 'Bearer …' }`. */
export type OwnHeaders = Readonly<Record<string, Readonly<Record<string, string>>>>;

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
      z.string().refine((text) => Buffer.byteLength(text) <= MAX_BODY_BYTES, `must be at most ${MAX_BODY_BYTES} bytes`),
    ).describe('Body, as text; JSON unless headers say otherwise'),
    headers: absentOr(headersSchema).describe('Headers by name; no credentials'),
  })
  .refine(({ method = 'GET', body }) => method !== 'GET' || body === undefined, 'a GET has no body');

/** The options of fetch for the request. The program's own headers win; a redirect is never followed. */
export function createInit(
  { url, method = 'GET', body, headers = {} }: ResourceRequest,
  own: OwnHeaders = {},
): RequestInit & { headers: Headers } {
  const all = new Headers(headers);
  if (body !== undefined && !all.has('content-type') && parseJson(body) !== undefined)
    all.set('content-type', 'application/json');
  for (const [name, value] of Object.entries(own[new URL(url).origin] ?? {})) all.set(name, value);
  return { method, headers: all, redirect: 'manual', ...(body !== undefined && { body }) };
}

/** `POST "https://…" with a body of 12 bytes`; a GET is its URL alone. */
export function showRequest({ url, method = 'GET', body, headers = {} }: ResourceRequest): string {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  return [
    ...(method === 'GET' ? [] : [method]),
    url,
    ...(body === undefined ? [] : [`with a body of ${Buffer.byteLength(body)} bytes`]),
    ...(names.length === 0 ? [] : [`with the headers ${names.join(', ')}`]),
  ].join(' ');
}
