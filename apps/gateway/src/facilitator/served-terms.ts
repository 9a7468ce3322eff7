import type { PaymentEnvironment, SignedPaymentTerms } from '@tollgate/common';
import {
  caip2Of,
  facilitatorReasonFor,
  INVALID_REQUIREMENTS,
  v1NetworkOf,
  type PaymentFailure,
  type SignedPayment,
} from '@tollgate/protocol';

import type { FacilitatorRequest } from './parse-facilitator-request.js';

/** A payment that is of a kind which is served here, or the reason why not, in the words of the request's version. */
export type Served =
  | { readonly terms: SignedPaymentTerms; readonly payment: SignedPayment }
  | { readonly reason: string; readonly message: string };

const SCHEMES: Readonly<Record<1 | 2, readonly string[]>> = { 1: ['exact'], 2: ['exact', 'upto'] };

/** What a requirement may ask for: one token on one chain, by the scheme `exact`, or `upto` in version 2. */
export class ServedTerms {
  readonly #networks: Readonly<Record<1 | 2, readonly string[]>>;

  constructor(private readonly payment: PaymentEnvironment) {
    const { chainId, network } = payment;
    this.#networks = { 1: [v1NetworkOf(chainId) ?? network, network], 2: [caip2Of(chainId)] };
  }

  /** The own requirement is what the payment is held to; what the client says he accepted must be of the same kind. */
  read({ version, requirement, payment }: FacilitatorRequest): Served {
    const refuse = (failure: PaymentFailure): Served => ({
      reason: facilitatorReasonFor(failure, version),
      message: failure,
    });
    if (!SCHEMES[version].includes(requirement.scheme)) return refuse('wrong_scheme');
    if (!this.#networks[version].includes(requirement.network)) return refuse('wrong_network');
    if (requirement.asset !== this.payment.assetAddress.toLowerCase()) {
      return { reason: INVALID_REQUIREMENTS, message: 'This asset is not settled here.' };
    }
    if ('failure' in payment) return refuse(payment.failure);
    const { payload } = payment;
    if (payload.scheme !== requirement.scheme) return refuse('wrong_scheme');
    if (payload.payment.kind === 'permit2' && version === 1) return refuse('wrong_scheme');
    if (schemeOf(payload.payment) !== requirement.scheme) return refuse('wrong_scheme');
    if (payload.network !== requirement.network) return refuse('wrong_network');
    return { terms: this.#termsFor(requirement), payment: payload.payment };
  }

  /** The token's domain is the configured one: whoever signed over another paid in nothing. */
  #termsFor({ payTo, amountBaseUnits }: FacilitatorRequest['requirement']): SignedPaymentTerms {
    const { chainId, assetAddress, domainName, assetVersion } = this.payment;
    return {
      chainId,
      asset: assetAddress.toLowerCase() as `0x${string}`,
      assetName: domainName,
      assetVersion,
      payTo,
      priceBaseUnits: amountBaseUnits,
    };
  }
}

/** What was signed, whatever the client says of it. */
function schemeOf(payment: SignedPayment): string {
  return payment.kind === 'permit2' ? payment.scheme : 'exact';
}
