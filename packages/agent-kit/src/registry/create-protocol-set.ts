import type { PublicClient } from 'viem';

import { describeWrong, runProbe, type ProbeResult } from '../chain/probe.js';
import type { Plugin } from '../operations/define/operation.js';
import type {
  ProtocolEnvironment,
  ProtocolKind,
  ProtocolKinds,
  ProtocolPlugin,
  ProtocolSet,
} from '../protocols/protocol.js';
import { createTokenProbes } from '../tokens/resolve-token.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { ChainRegistry } from './registry.js';

/**
 * Not the names of the kinds: "liquidity" in a message is the keyword of another error (specification, section
 * "Errors").
 */
const PURPOSES: Record<ProtocolKind, string> = {
  swap: 'swaps',
  liquidity: 'pools',
  lending: 'lending',
  staking: 'staking',
  perps: 'perps',
};

/** Plugins take precedence over the registry; each protocol is probed and created when it is first used. */
export function createProtocolSet(
  environment: ProtocolEnvironment,
  registry: ChainRegistry,
  plugins: readonly Plugin[],
): ProtocolSet {
  const available = [...plugins, ...registry.protocols].filter((plugin) => isOnChain(plugin, environment.chainId));
  const created = new Map<ProtocolKind, ProtocolKinds[ProtocolKind]>();
  return {
    async require<Kind extends ProtocolKind>(kind: Kind): Promise<ProtocolKinds[Kind]> {
      const existing = created.get(kind);
      // The map is filled below, by kind.
      if (existing) return existing as ProtocolKinds[Kind];
      const plugin = available.find((candidate): candidate is ProtocolPlugin<Kind> & Plugin => candidate.kind === kind);
      if (!plugin) {
        throw new AgentKitError(
          'PROTOCOL_UNAVAILABLE',
          `No protocol for ${PURPOSES[kind]} is deployed on chain ${registry.chainId} (${registry.name}) that the kit knows.`,
          { details: { kind, chainId: registry.chainId } },
        );
      }
      await assertProbes(plugin, environment);
      const protocol = plugin.create(environment);
      created.set(kind, protocol);
      return protocol;
    },
  };
}

async function assertProbes(
  { name, probes = [] }: ProtocolPlugin,
  { client, chainId }: ProtocolEnvironment,
): Promise<void> {
  const wrong = describeWrong(await Promise.all(probes.map((probe) => runProbe(client, probe))));
  if (wrong.length === 0) return;
  throw new AgentKitError(
    'PROTOCOL_UNAVAILABLE',
    `${name} is not what the kit takes it for on chain ${chainId}: ${wrong.join('; ')}.`,
    { details: { chainId, wrong }, suggestion: 'Do not use these contracts; add a plugin for the right ones.' },
  );
}

export function isOnChain({ chainIds }: Pick<Plugin, 'chainIds'>, chainId: number): boolean {
  return chainIds === 'any' || chainIds.includes(chainId);
}

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
