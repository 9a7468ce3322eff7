import { Inject, Injectable } from '@nestjs/common';
import { chainsOf } from '@tollgate/config';
import { mayAccept, type ApiKey } from '@tollgate/http';
import { Journal, LaneDirectory, type ListedLane, RELAYER_FLEET } from '@tollgate/journal';
import { caip2Of, v1NetworkOf, type SupportedKind, type SupportedResponse } from '@tollgate/protocol';

import { PaywallConnections } from '../paywall/paywall.module.js';
import { namesOf } from './served-terms.js';

/** Lists the supported kinds of payments and the accounts that send settlements, for each chain. */
@Injectable()
export class SupportedKinds {
  readonly #relayers: readonly {
    readonly chainId: number;
    readonly lanes: LaneDirectory;
    /** By any of which the limit of a key may name this chain or an option on it. */
    readonly names: readonly string[];
  }[];

  constructor(@Inject(PaywallConnections) { redis, ledger, options }: PaywallConnections) {
    const journal = new Journal({ redis, fleet: RELAYER_FLEET });
    const settling = options.list.map(({ option }) => option).filter(({ chain }) => chain.settles);
    this.#relayers = chainsOf(settling).map((chain) => ({
      chainId: chain.id,
      names: settling.filter((option) => option.chain === chain).flatMap(namesOf),
      lanes: new LaneDirectory({ journal, chainId: chain.id, nowMs: () => ledger.nowMs() }),
    }));
  }

  /** @param key of the request, whose limit it keeps to; null without one */
  async read(key: ApiKey | null): Promise<SupportedResponse> {
    const accepted = this.#relayers.filter(({ names }) => key === null || mayAccept(key, names));
    // Includes every account that was ever a relayer; empty while the journal is unavailable.
    const chains = await Promise.all(
      accepted.map(async ({ chainId, lanes }) => ({ chainId, relayers: await lanes.read().catch(() => []) })),
    );
    const addresses = chains.flatMap(({ relayers }) => relayers.map(({ address }) => address));
    return {
      kinds: chains.flatMap(({ chainId, relayers }) => listKinds(chainId, relayers)),
      extensions: [],
      signers: { 'eip155:*': [...new Set(addresses)] },
    };
  }
}

/** An `upto` payer signs the address of the relayer, so it must be one that is running. */
function listKinds(chainId: number, relayers: readonly ListedLane[]): SupportedKind[] {
  const [v1, v2] = [v1NetworkOf(chainId), caip2Of(chainId)];
  const relayer = relayers.find(({ isAvailable }) => isAvailable);
  return [
    ...(v1 === null ? [] : [{ x402Version: 1, scheme: 'exact', network: v1 } as const]),
    { x402Version: 2, scheme: 'exact', network: v2 },
    ...(relayer === undefined
      ? []
      : [{ x402Version: 2, scheme: 'upto', network: v2, extra: { facilitatorAddress: relayer.address } } as const]),
  ];
}
