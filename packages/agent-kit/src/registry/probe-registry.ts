import type { PublicClient } from 'viem';

import { runProbe, type ProbeResult } from '../chain/probe.js';
import { createTokenProbes } from '../tokens/resolve-token.js';
import type { ChainRegistry } from './registry.js';

/** The answers to all probes of a chain's tokens and protocols, with the entry that each belongs to. */
export async function probeRegistry(
  client: PublicClient,
  { tokens, protocols }: ChainRegistry,
): Promise<(ProbeResult & { entry: string })[]> {
  const entries = [
    ...tokens.map((token) => ({ entry: 'token', probes: createTokenProbes(token) })),
    ...protocols.map(({ kind, name, probes = [] }) => ({ entry: `${kind}: ${name}`, probes })),
  ];
  const results: (ProbeResult & { entry: string })[] = [];
  // One after the other: public RPC servers refuse many calls at once.
  for (const { entry, probes } of entries)
    for (const probe of probes) results.push({ entry, ...(await runProbe(client, probe)) });
  return results;
}
