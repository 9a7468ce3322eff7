import type { PaymentEnvironment } from '@tollgate/common';
import type { ReferenceTerms } from '@tollgate/protocol';

import { ChallengeTemplate } from './challenge-template.js';
import { PaidPath } from './paid-path.js';
import type { PaidRoute } from './paid-route.js';

/** A paid route made ready for requests: what of its challenges does not change is made once. */
export class PaidEndpoint {
  readonly path: PaidPath;
  readonly template: ChallengeTemplate;
  readonly #termsByMethod = new Map<string, ReferenceTerms>();
  readonly #literalStart: string | null;

  constructor(
    readonly route: PaidRoute,
    private readonly payment: PaymentEnvironment,
  ) {
    this.path = PaidPath.parse(route.path);
    this.template = new ChallengeTemplate({
      network: payment.network,
      asset: payment.assetAddress,
      assetSymbol: payment.assetSymbol,
      assetVersion: payment.assetVersion,
      payTo: payment.payTo,
      maxTimeoutSeconds: payment.maxTimeoutSeconds,
      priceBaseUnits: route.priceBaseUnits,
      description: route.description,
      mimeType: route.mimeType,
    });
    this.#literalStart = this.path.literal === null ? null : this.template.renderStart(this.path.literal);
  }

  renderStart(resource: string): string {
    return this.#literalStart ?? this.template.renderStart(resource);
  }

  /** What a reference given out for this method and resource is good for. */
  termsOf(method: string, resource: string): ReferenceTerms {
    if (this.#literalStart === null) return this.#createTerms(method, resource);
    let terms = this.#termsByMethod.get(method);
    if (terms === undefined) this.#termsByMethod.set(method, (terms = this.#createTerms(method, resource)));
    return terms;
  }

  #createTerms(method: string, resource: string): ReferenceTerms {
    const { assetAddress, payTo, network } = this.payment;
    return { method, resource, asset: assetAddress, payTo, network };
  }
}
