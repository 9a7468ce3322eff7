import { Inject, Injectable } from '@nestjs/common';
import type { SignedAsset } from '@tollgate/config';
import {
  caip2Of,
  facilitatorReasonFor,
  INVALID_REQUIREMENTS,
  listSchemes,
  reasonsOfScheme,
  schemeOf,
  signedMethodOf,
  v1NetworkOf,
  type PaymentFailure,
  type RequirementTerms,
  type SignedPayment,
} from '@tollgate/protocol';
import type { SignedPaymentTerms } from '@tollgate/transport';

import { GatewayEnvironment } from '../config/gateway.config.js';
import type { FacilitatorRequest } from './parse-facilitator-request.js';

/** A payment of a supported kind, or the reason of the request's x402 version why it is not supported. */
export type Served =
  | { readonly terms: SignedPaymentTerms; readonly payment: SignedPayment }
  | { readonly reason: string; readonly message: string };

/** Defines the supported requirements: certain tokens on one chain, by the scheme `exact`, or `upto` in x402 v2. */
@Injectable()
export class ServedTerms {
  readonly #chainId: number;
  readonly #assets: ReadonlyMap<string, SignedAsset>;
  readonly #networks: Readonly<Record<1 | 2, readonly string[]>>;

  constructor(@Inject(GatewayEnvironment) { payment, facilitator }: GatewayEnvironment) {
    const { chainId, network, signedAsset } = payment;
    this.#chainId = chainId;
    this.#assets = new Map([...facilitator.assets, signedAsset].map((one) => [one.asset, one]));
    this.#networks = { 1: [v1NetworkOf(chainId) ?? network, network], 2: [caip2Of(chainId)] };
  }

  /**
   * The payment must meet the server's requirements; the requirements that the client accepted must be of the same
   * kind.
   */
  read({ version, requirement, payment }: FacilitatorRequest): Served {
    const refuse = (failure: PaymentFailure): Served => ({
      reason: facilitatorReasonFor(failure, version, reasonsOfScheme(requirement.scheme)),
      message: failure,
    });
    if (!listSchemes(version).includes(requirement.scheme)) return refuse('wrong_scheme');
    if (!this.#networks[version].includes(requirement.network)) return refuse('wrong_network');
    const asset = this.#assets.get(requirement.asset);
    if (asset === undefined)
      return { reason: INVALID_REQUIREMENTS, message: 'This facilitator does not settle this asset.' };
    const mismatch = findMismatch(requirement, asset);
    if (mismatch !== null) return { reason: INVALID_REQUIREMENTS, message: mismatch };
    if ('failure' in payment) return refuse(payment.failure);
    const { payload } = payment;
    if (payload.scheme !== requirement.scheme) return refuse('wrong_scheme');
    if (!signedMethodOf(payload.payment).versions.includes(version)) return refuse('wrong_scheme');
    if (schemeOf(payload.payment) !== requirement.scheme) return refuse('wrong_scheme');
    if (payload.network !== requirement.network) return refuse('wrong_network');
    return { terms: this.#termsFor(requirement, asset), payment: payload.payment };
  }

  #termsFor({ payTo, amountBaseUnits }: RequirementTerms, { asset, name, version }: SignedAsset): SignedPaymentTerms {
    return {
      chainId: this.#chainId,
      asset,
      assetName: name,
      assetVersion: version,
      payTo,
      priceBaseUnits: amountBaseUnits,
    };
  }
}

/** A signature under a domain other than the token's is invalid, whatever the requirements state. */
function findMismatch({ assetName, assetVersion }: RequirementTerms, { name, version }: SignedAsset): string | null {
  if ((assetName ?? name) === name && (assetVersion ?? version) === version) return null;
  return `The EIP-712 domain of this asset has the name ${JSON.stringify(name)} and the version ${JSON.stringify(version)}.`;
}
