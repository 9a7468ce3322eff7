import { Inject, Injectable } from '@nestjs/common';
import { chainsOf, type PaymentOption } from '@tollgate/config';
import { mayAccept, type ApiKey } from '@tollgate/http';
import { Journal, LaneDirectory, type ListedLane, RELAYER_FLEET } from '@tollgate/journal';
import {
  caip2Of,
  listSignedMethods,
  v1NetworkOf,
  type SupportedKind,
  type SupportedResponse,
} from '@tollgate/protocol';

import { isOffered } from '../paywall/offer/sold-option.js';
import { PaywallConnections } from '../paywall/paywall.module.js';
import { namesOf } from './served-terms.js';

/** Lists the supported kinds of payments and the accounts that send settlements, for each chain. */
@Injectable()
export class SupportedKinds {
  readonly #relayers: readonly {
    readonly chainId: number;
    readonly lanes: LaneDirectory;
    /** Of those on the chain, the ones that are paid by signature. */
    readonly options: readonly PaymentOption[];
  }[];

  constructor(@Inject(PaywallConnections) { redis, ledger, options }: PaywallConnections) {
    const journal = new Journal({ redis, fleet: RELAYER_FLEET });
    const settling = options.list.map(({ option }) => option).filter((option) => isSettled(option));
    this.#relayers = chainsOf(settling).map((chain) => ({
      chainId: chain.id,
      options: settling.filter((option) => option.chain === chain),
      lanes: new LaneDirectory({ journal, chainId: chain.id, nowMs: () => ledger.nowMs() }),
    }));
  }

  /** @param key of the request, whose limit it keeps to; null without one */
  async read(key: ApiKey | null): Promise<SupportedResponse> {
    const accepted = this.#relayers.flatMap(({ options, ...chain }) => {
      const own = options.filter((option) => key === null || mayAccept(key, namesOf(option)));
      return own.length === 0 ? [] : [{ ...chain, options: own }];
    });
    // Includes every account that was ever a relayer; empty while the journal is unavailable.
    const chains = await Promise.all(
      accepted.map(async ({ lanes, ...chain }) => ({ ...chain, relayers: await lanes.read().catch(() => []) })),
    );
    const addresses = chains.flatMap(({ relayers }) => relayers.map(({ address }) => address));
    return {
      kinds: chains.flatMap(({ chainId, relayers, options }) =>
        listKinds(chainId, relayers).filter((kind) => options.some((option) => isSettled(option, kind))),
      ),
      extensions: [],
      signers: { 'eip155:*': [...new Set(addresses)] },
    };
  }
}

/** Whether payments in an option are settled, of a kind where one is given. Its chain must have relayers. */
function isSettled(option: PaymentOption, kind?: Pick<SupportedKind, 'x402Version' | 'scheme'>): boolean {
  return (
    option.chain.settles &&
    listSignedMethods().some(
      ({ transferMethod, schemes, versions }) =>
        isOffered(option, transferMethod) &&
        (kind === undefined || (versions.includes(kind.x402Version) && schemes.some((one) => one === kind.scheme))),
    )
  );
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
