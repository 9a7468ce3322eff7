import { Inject, Injectable } from '@nestjs/common';
import { type PaymentEnvironment } from '@tollgate/config';
import { Journal, LaneDirectory, type ListedLane, RELAYER_FLEET } from '@tollgate/journal';
import { caip2Of, v1NetworkOf, type SupportedKind, type SupportedResponse } from '@tollgate/protocol';

import { GatewayEnvironment } from '../config/gateway.config.js';
import { PaywallConnections } from '../paywall/paywall.module.js';

/** Lists the supported kinds of payments and the accounts that send settlements. */
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
    // Includes every account that was ever a relayer; empty while the journal is unavailable.
    const relayers = await this.#relayers.read().catch(() => []);
    return {
      kinds: this.#listKinds(relayers),
      extensions: [],
      signers: { 'eip155:*': relayers.map(({ address }) => address) },
    };
  }

  /** An `upto` payer signs the address of the relayer, so it must be one that is running. */
  #listKinds(relayers: readonly ListedLane[]): SupportedKind[] {
    const { chainId } = this.#payment;
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
}
