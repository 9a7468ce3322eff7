import { parseJson } from '@tollgate/client/internal';
import { isAddress, isBaseUnits, isRecord, ownField } from '@tollgate/protocol';

/** What a host says about one of its resources. Nothing of it is checked. */
export interface SaidResource {
  method: string | null;
  /** A URL, or a path of the host. */
  target: string;
  /** Decimal text with a unit, or base units with the token's address. */
  price: string | { baseUnits: string; asset: string } | null;
  description: string | null;
}

type Reader = (text: string) => SaidResource[];

/** No expression reads more: a long line would take it long. */
const MAX_LINE_LENGTH = 1_000;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** `/.well-known/x402`: a list of URLs, or of objects, under one of the names in use. */
export const readWellKnown: Reader = (text) => {
  const document = parseJson(text);
  if (!isRecord(document)) return [];
  const lists = ['resources', 'items', 'endpoints'].map((name) => ownField(document, name));
  return lists.flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : [])).flatMap(readListed);
};

function readListed(entry: unknown): SaidResource[] {
  if (typeof entry === 'string') {
    const [, method = null, target = entry] = /^([A-Z]+) (\S+)$/.exec(entry) ?? [];
    return [{ method, target, price: null, description: null }];
  }
  if (!isRecord(entry)) return [];
  const resource = ownField(entry, 'resource');
  const inner = isRecord(resource) ? resource : {};
  const target = [resource, ownField(inner, 'url'), ownField(entry, 'url'), ownField(entry, 'path')].find(isText);
  if (target === undefined) return [];
  const accepts = ownField(entry, 'accepts');
  const offers: unknown[] = Array.isArray(accepts) ? accepts : [accepts];
  const price = readPrice(entry) ?? offers.map(readOffer).find((offer) => offer !== null) ?? null;
  const description = [ownField(entry, 'description'), ownField(inner, 'description')].find(isText) ?? null;
  const method = ownField(entry, 'method');
  return [{ method: isText(method) ? method.toUpperCase() : null, target, price, description }];
}

/** `llms.txt`: list items of a method, a URL or path, and a price. Others are not for sale. */
export const readLlmsText: Reader = (text) =>
  text.split('\n').flatMap((whole) => {
    const line = whole.slice(0, MAX_LINE_LENGTH);
    const [, methods, target, rest = ''] =
      /^\s*[-*]\s+[`*]*([A-Z]+(?:, ?[A-Z]+)*)\s+([^\s`]+?)[`*:,]*(?=\s|$)(.*)$/.exec(line) ?? [];
    const [price] =
      /(?:at most |up to )?(?:\$\s?[0-9]+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?\s?[A-Z][A-Za-z]{2,10}\b)/.exec(rest) ?? [];
    if (methods === undefined || target === undefined || price === undefined) return [];
    const known = methods.split(/, ?/).filter((method) => METHODS.includes(method));
    const description = rest.replace(price, '').replace(/^[\s:.,—–-]+/, '') || null;
    return known.map((method) => ({ method, target, price, description }));
  });

/** OpenAPI: operations with `x-payment-info`, or with an answer 402. */
export const readOpenApi: Reader = (text) => {
  const document = parseJson(text);
  const paths = isRecord(document) ? ownField(document, 'paths') : undefined;
  if (!isRecord(document) || !isRecord(paths)) return [];
  const servers = ownField(document, 'servers');
  const first: unknown = Array.isArray(servers) ? servers[0] : undefined;
  const base = isRecord(first) ? ownField(first, 'url') : undefined;
  const prefix = isText(base) ? base.slice(0, MAX_LINE_LENGTH).replace(/\/+$/, '') : '';
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method): SaidResource[] => {
      const operation = isRecord(item) ? ownField(item, method.toLowerCase()) : undefined;
      if (!isRecord(operation)) return [];
      const info = ownField(operation, 'x-payment-info');
      const responses = ownField(operation, 'responses');
      if (!isRecord(info) && !(isRecord(responses) && ownField(responses, '402') !== undefined)) return [];
      const description = [ownField(operation, 'summary'), ownField(operation, 'description')].find(isText) ?? null;
      return [
        { method, target: `${prefix}${path}`, price: isRecord(info) ? readPaymentInfo(info) : null, description },
      ];
    }),
  );
};

/** The forms of `x-payment-info`: of x402 (a price in a currency, nested or flat), and of MPP (offers in base units). */
function readPaymentInfo(info: Record<string, unknown>): SaidResource['price'] {
  const offers = ownField(info, 'offers');
  const price = ownField(info, 'price');
  const first = Array.isArray(offers) ? readOffer(offers[0]) : null;
  return first ?? (isRecord(price) ? readPrice(price) : null) ?? readOffer(info) ?? readPrice(info);
}

/** A price in whole units: `0.01 USD`; a range: `0.01 to 0.5 USD`. */
function readPrice(said: Record<string, unknown>): string | null {
  const read = (names: readonly string[]) => names.map((name) => readNumber(ownField(said, name))).find(isText);
  const unit = [ownField(said, 'currency'), ownField(said, 'token')].find(isText);
  const [exact, least, most] = [read(['price', 'amount']), read(['minPrice', 'min']), read(['maxPrice', 'max'])];
  const range = least !== undefined && most !== undefined ? `${least} to ${most}` : (most ?? least);
  const amount = exact ?? range;
  if (amount === undefined) return null;
  return unit === undefined || (exact !== undefined && /[a-z$]/i.test(exact)) ? amount : `${amount} ${unit}`;
}

/** An amount in base units of the token at an address. */
function readOffer(offer: unknown): { baseUnits: string; asset: string } | null {
  if (!isRecord(offer)) return null;
  const baseUnits = [ownField(offer, 'maxAmountRequired'), ownField(offer, 'amount')].find(isText);
  const asset = [ownField(offer, 'asset'), ownField(offer, 'currency')].find(isText);
  return isBaseUnits(baseUnits) && isAddress(asset) ? { baseUnits, asset } : null;
}

function readNumber(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return isText(value) ? value : undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
