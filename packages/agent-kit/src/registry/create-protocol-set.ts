import type { Plugin } from '../operations/define/operation.js';
import type {
  ProtocolEnvironment,
  ProtocolKind,
  ProtocolKinds,
  ProtocolPlugin,
  ProtocolSet,
} from '../protocols/protocol.js';
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

/** Plugins take precedence over the registry; each protocol is created when it is first used. */
export function createProtocolSet(
  environment: ProtocolEnvironment,
  registry: ChainRegistry,
  plugins: readonly Plugin[],
): ProtocolSet {
  const available = [...plugins, ...registry.protocols].filter((plugin) => isOnChain(plugin, environment.chainId));
  const created = new Map<ProtocolKind, ProtocolKinds[ProtocolKind]>();
  return {
    require<Kind extends ProtocolKind>(kind: Kind): ProtocolKinds[Kind] {
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
      const protocol = plugin.create(environment);
      created.set(kind, protocol);
      return protocol;
    },
  };
}

export function isOnChain({ chainIds }: Pick<Plugin, 'chainIds'>, chainId: number): boolean {
  return chainIds === 'any' || chainIds.includes(chainId);
}
