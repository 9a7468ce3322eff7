import { Inject, Injectable } from '@nestjs/common';
import { RELAYER_FLEET, type PaymentEnvironment } from '@tollgate/common';
import { caip2Of, v1NetworkOf, type SupportedKind, type SupportedResponse } from '@tollgate/protocol';
import { Journal } from '@tollgate/transactions';

import { GatewayEnvironment } from '../gateway.config.js';
import { PaywallConnections } from '../paywall/paywall.module.js';

/** Says which payments are verified and settled here, and which accounts send settlements. */
@Injectable()
export class SupportedKinds {
  readonly #relayers: Journal;
  readonly #payment: PaymentEnvironment;

  constructor(
    @Inject(GatewayEnvironment) { payment }: GatewayEnvironment,
    @Inject(PaywallConnections) { redis }: PaywallConnections,
  ) {
    this.#payment = payment;
    this.#relayers = new Journal({ redis, fleet: RELAYER_FLEET });
  }

  async read(): Promise<SupportedResponse> {
    return { kinds: this.#listKinds(), extensions: [], signers: { 'eip155:*': await this.#readSigners() } };
  }

  #listKinds(): SupportedKind[] {
    const { chainId } = this.#payment;
    const [v1, v2] = [v1NetworkOf(chainId), caip2Of(chainId)];
    const kindV2: SupportedKind = { x402Version: 2, scheme: 'exact', network: v2 };
    return v1 === null ? [kindV2] : [{ x402Version: 1, scheme: 'exact', network: v1 }, kindV2];
  }

  /** Every lane that a relayer ever had; none while the journal is away. */
  async #readSigners(): Promise<string[]> {
    const lanes = await this.#relayers.readLanes().catch(() => []);
    return lanes.filter(({ chainId }) => chainId === this.#payment.chainId).map(({ address }) => address);
  }
}
