import { formatTokenAmount } from '@tollgate/protocol';
import { z } from 'zod';

import { AgentKitError } from '../types/agent-kit-error.js';
import type { Token } from '../types/token.js';
import { cleanUntrusted } from '../types/untrusted-text.js';
import { explainUnpaid } from './explain-payment-error.js';
import { readFirstBytes } from './read-answer.js';
import { readLlmsText, readOpenApi, readWellKnown, type SaidResource } from './read-discovery.js';

/** In this order: what an earlier document says about a resource is kept. */
const DOCUMENTS = [
  { path: '/.well-known/x402', read: readWellKnown },
  { path: '/.well-known/x402.json', read: readWellKnown },
  { path: '/llms.txt', read: readLlmsText },
  { path: '/openapi.json', read: readOpenApi },
] as const;
const MAX_DOCUMENT_BYTES = 512 * 1024;
/** Of one document, also those that are no resource. */
const MAX_ENTRIES = 500;
const MAX_RESOURCES = 100;
const MAX_URL_LENGTH = 500;

/** All of it is text of the host: nothing is checked, and the price to pay is that of the 402. */
const resourceSchema = z.object({
  method: z.string().nullable(),
  url: z.string(),
  price: z.string().nullable(),
  description: z.string().nullable(),
  isSameOrigin: z.boolean().describe('False: it is at another host'),
});

export type ListedResource = z.output<typeof resourceSchema>;

export const paidResourcesSchema = z.object({
  resources: z.array(resourceSchema),
  sources: z.array(z.string()).describe('The documents of the host that list them'),
  isCut: z.boolean(),
});

interface Listing {
  fetch: typeof globalThis.fetch;
  origin: string;
  /** For all documents together. */
  timeoutMs: number;
  /** Prices in base units of these are shown in whole units. */
  tokens: readonly Token[];
}

/**
 * Reads what a host says that it sells, in the documents that x402 and MPP servers publish. Follows no redirect.
 * @throws AgentKitError `NETWORK_ERROR` if the host does not answer, `PROTOCOL_UNAVAILABLE` if it lists nothing
 */
export async function readPaidResources(listing: Listing): Promise<z.output<typeof paidResourcesSchema>> {
  const { origin } = listing;
  const deadline = AbortSignal.timeout(listing.timeoutMs);
  const answers = await Promise.allSettled(
    DOCUMENTS.map(async ({ path, read }) => {
      const said = read(await readDocument(listing, path, deadline));
      return { path, said: said.slice(0, MAX_ENTRIES) };
    }),
  );
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const [failed] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []));
  if (found.length === 0) throw explainUnpaid(failed, origin);
  const byName = new Map<string, ListedResource>();
  for (const resource of found.flatMap(({ said }) => said).flatMap((said) => show(said, listing)))
    merge(byName, resource);
  const sources = found.filter(({ said }) => said.length > 0).map(({ path }) => `${origin}${path}`);
  if (byName.size > 0) {
    return { resources: [...byName.values()].slice(0, MAX_RESOURCES), sources, isCut: byName.size > MAX_RESOURCES };
  }
  const looked = DOCUMENTS.map(({ path }) => path).join(', ');
  throw new AgentKitError('PROTOCOL_UNAVAILABLE', `${new URL(origin).host} lists no paid resources in ${looked}.`, {
    suggestion: 'Ask for the URL of a resource: payForResource buys it without a list.',
  });
}

/** Empty where the host has no such document. */
async function readDocument({ fetch, origin, timeoutMs }: Listing, path: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(`${origin}${path}`, { redirect: 'manual', signal });
  if (response.status !== 200) {
    response.body?.cancel().catch(() => undefined);
    return '';
  }
  const { bytes } = await readFirstBytes(response, { maxBytes: MAX_DOCUMENT_BYTES, timeoutMs });
  return new TextDecoder().decode(bytes);
}

/** One that is no http URL is left out. */
function show({ method, target, price, description }: SaidResource, { origin, tokens }: Listing): ListedResource[] {
  if (target.length > MAX_URL_LENGTH || !URL.canParse(target, origin)) return [];
  const url = new URL(target, origin);
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return [];
  const shown = price === null || typeof price === 'string' ? price : showBaseUnits(price, tokens);
  return [
    {
      method: method === null ? null : cleanUntrusted(method, 10),
      // The braces of a path with parameters stay readable.
      url: url.href.replaceAll('%7B', '{').replaceAll('%7D', '}'),
      price: shown === null ? null : cleanUntrusted(shown, 60),
      description: description === null ? null : cleanUntrusted(description, 200),
      isSameOrigin: url.origin === origin,
    },
  ];
}

function showBaseUnits({ baseUnits, asset }: { baseUnits: string; asset: string }, tokens: readonly Token[]): string {
  const token = tokens.find(({ address }) => address.toLowerCase() === asset.toLowerCase());
  if (!token) return `${baseUnits} base units of ${asset}`;
  return `${formatTokenAmount(BigInt(baseUnits), token.decimals)} ${token.symbol}`;
}

/** A list of URLs has no method and no price: another document may. */
function merge(byName: Map<string, ListedResource>, resource: ListedResource): void {
  const { method, url, price, description } = resource;
  const unnamed = byName.get(` ${url}`);
  if (method !== null && unnamed) {
    byName.delete(` ${url}`);
    byName.set(`${method} ${url}`, { ...unnamed, method });
  }
  const known = [...byName.values()].find((other) => other.url === url && (method === null || other.method === method));
  if (!known) return void byName.set(`${method ?? ''} ${url}`, resource);
  known.price ??= price;
  known.description ??= description;
}
