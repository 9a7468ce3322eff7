import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';

type Headers = readonly (readonly [string, string])[];

const DECODED = ['gzip', 'br'];
const CHUNKS = { chunkSize: 65_536 };
/** A decoded answer may be longer than a stored one by this factor: a short one can decode to many gigabytes. */
const MOST_TIMES_LONGER = 20;
/** These describe the bytes of the coded body. */
const OF_CODED_BODY = new Set(['content-encoding', 'content-md5', 'content-digest', 'digest', 'repr-digest']);

/** Of the codings that the gateway can decode, those that a client reads. None without `Accept-Encoding`. */
export function readableCodings(acceptEncoding: string | undefined): string[] {
  return DECODED.filter((coding) => isReadable(coding, acceptEncoding));
}

/** The content coding of an answer, or its codings as a list; null where there is none. */
export function codingOf(headers: Headers): string | null {
  const named = headers.flatMap(([name, value]) => (name === 'content-encoding' ? value.split(',') : []));
  const codings = named.map(canonicalCoding).filter((coding) => coding !== '' && coding !== 'identity');
  return codings.length === 0 ? null : codings.join(', ');
}

/** Whether a client reads an answer of this coding, as `codingOf` names it. */
export function isReadable(coding: string, acceptEncoding = ''): boolean {
  const weights = new Map(acceptEncoding.split(',').map(readWeight));
  return coding.split(', ').every((one) => (weights.get(one) ?? weights.get('*') ?? 0) > 0);
}

function readWeight(item: string): [coding: string, weight: number] {
  const [coding = '', ...parameters] = item.split(';');
  const [, weight = '1'] = parameters.map((parameter) => /^\s*q\s*=(.*)/i.exec(parameter)).find(Boolean) ?? [];
  return [canonicalCoding(coding), Number(weight)];
}

/** Two names of gzip are in use (RFC 9110, section 8.4.1.3). */
function canonicalCoding(name: string): string {
  const coding = name.trim().toLowerCase();
  return coding === 'x-gzip' ? 'gzip' : coding;
}

/**
 * An answer in a form that the client reads: as it is, or decoded. Null where it cannot be decoded, or would be longer
 * than 20 times `maxStoredAnswerBytes`.
 * @param headers with names in small letters
 */
export async function makeReadable(
  { headers, body }: { readonly headers: Headers; readonly body: Buffer },
  acceptEncoding: string | undefined,
  maxStoredAnswerBytes: number,
): Promise<{ readonly headers: Headers; readonly body: Buffer | Readable } | null> {
  const coding = codingOf(headers);
  if (coding === null || body.length === 0) return { headers, body };
  const varying = varyByCoding(headers);
  if (isReadable(coding, acceptEncoding)) return { headers: varying, body };
  const maxBytes = MOST_TIMES_LONGER * maxStoredAnswerBytes;
  if (!(await isDecodable(body, coding, maxBytes))) return null;
  return { headers: varying.flatMap(toDecodedHeader), body: decode(body, coding) };
}

/** Decodes to nowhere, so that no answer breaks off in the middle, and none takes memory for its full length. */
async function isDecodable(body: Buffer, coding: string, maxBytes: number): Promise<boolean> {
  if (!DECODED.includes(coding)) return false;
  let length = 0;
  try {
    for await (const chunk of decode(body, coding)) {
      length += (chunk as Buffer).length;
      if (length > maxBytes) return false;
    }
    return true;
  } catch {
    return false;
  }
}

function decode(body: Buffer, coding: string): Readable {
  const decoder = coding === 'br' ? createBrotliDecompress(CHUNKS) : createGunzip(CHUNKS);
  // Its reader handles errors; one before it is read must not end the process.
  decoder.on('error', () => undefined);
  decoder.end(body);
  return decoder;
}

function varyByCoding(headers: Headers): Headers {
  const isSaid = headers.some(
    ([name, value]) => name === 'vary' && /(^|,)\s*(accept-encoding|\*)\s*(,|$)/i.test(value),
  );
  return isSaid ? headers : [...headers, ['vary', 'Accept-Encoding']];
}

/** A strong validator stands for the coded bytes. */
function toDecodedHeader([name, value]: readonly [string, string]): [string, string][] {
  if (OF_CODED_BODY.has(name)) return [];
  return [[name, name === 'etag' && !value.startsWith('W/') ? `W/${value}` : value]];
}
