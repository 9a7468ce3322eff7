import { Inject, Injectable } from '@nestjs/common';
import { type PaymentEnvironment } from '@tollgate/common';
import { caip2Of, v1NetworkOf, type SupportedKind, type SupportedResponse } from '@tollgate/protocol';
import { Journal, LaneDirectory, type ListedLane, RELAYER_FLEET } from '@tollgate/transactions';

import { GatewayEnvironment } from '../gateway.config.js';
import { PaywallConnections } from '../paywall/paywall.module.js';

/** Says which payments are verified and settled here, and which accounts send settlements. */
@Injectable()
export class SupportedKinds {
  readonly #relayers: LaneDirectory;
  readonly #payment: PaymentEnvironment;

  constructor(
    @Inject(GatewayEnvironment) { payment }: GatewayEnvironment,
    @Inject(PaywallConnections) { redis, ledger }: PaywallConnections,
  ) {
    this.#payment = payment;
    const journal = new Journal({ redis, fleet: RELAYER_FLEET });
    this.#relayers = new LaneDirectory({ journal, chainId: payment.chainId, nowMs: () => ledger.nowMs() });
  }

  async read(): Promise<SupportedResponse> {
    // Every lane that a relayer ever had; none while the journal is away.
    const relayers = await this.#relayers.read().catch(() => []);
    return {
      kinds: this.#listKinds(relayers),
      extensions: [],
      signers: { 'eip155:*': relayers.map(({ address }) => address) },
    };
  }

  /** Who pays by scheme `upto` signs which relayer sends it: one that is there. */
  #listKinds(relayers: readonly ListedLane[]): SupportedKind[] {
    const { chainId } = this.#payment;
    const [v1, v2] = [v1NetworkOf(chainId), caip2Of(chainId)];
    const relayer = relayers.find(({ isAttended }) => isAttended);
    return [
      ...(v1 === null ? [] : [{ x402Version: 1, scheme: 'exact', network: v1 } as const]),
      { x402Version: 2, scheme: 'exact', network: v2 },
      ...(relayer === undefined
        ? []
        : [{ x402Version: 2, scheme: 'upto', network: v2, extra: { facilitatorAddress: relayer.address } } as const]),
    ];
  }
}
