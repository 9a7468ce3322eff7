import { Inject, Injectable } from '@nestjs/common';
import type { PaymentOption, SignedAsset } from '@tollgate/config';
import { mayAccept, ProblemError, type ApiKey } from '@tollgate/http';
import {
  caip2Of,
  facilitatorReasonFor,
  INVALID_REQUIREMENTS,
  listSchemes,
  lowerHex,
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
import type { JudgedOption } from '../options/judged-options.js';
import { isOffered } from '../paywall/offer/sold-option.js';
import { PaywallConnections } from '../paywall/paywall.module.js';
import type { FacilitatorRequest } from './parse-facilitator-request.js';

/** A payment of a supported kind, or the reason of the request's x402 version why it is not supported. */
export type Served =
  | {
      readonly terms: SignedPaymentTerms;
      readonly payment: SignedPayment;
      /** The option in whose token it is made. */
      readonly judged: JudgedOption;
    }
  | { readonly reason: string; readonly message: string };

/** A token that payments are settled in. */
interface ServedToken extends SignedAsset {
  readonly judged: JudgedOption;
}

/** Defines the supported requirements: certain tokens on certain chains, by the scheme `exact`, or `upto` in x402 v2. */
@Injectable()
export class ServedTerms {
  readonly #tokens: readonly ServedToken[];

  constructor(
    @Inject(GatewayEnvironment) { facilitator }: GatewayEnvironment,
    @Inject(PaywallConnections) { options: { list } }: PaywallConnections,
  ) {
    const own = list.map((judged) => ({ ...tokenOf(judged.option), judged }));
    const assets = new Set(own.map(({ asset }) => asset));
    // Only a gateway whose settings describe one option has further tokens: it has one chain.
    const others = facilitator.assets.filter(({ asset }) => !assets.has(asset));
    this.#tokens = [...own, ...others.flatMap((token) => list.slice(0, 1).map((judged) => ({ ...token, judged })))];
  }

  /**
   * The payment must meet the server's requirements; the requirements that the client accepted must be of the same
   * kind.
   *
   * @param key null for a request without one
   * @throws ProblemError where the key is limited to other options
   */
  read({ version, requirement, payment }: FacilitatorRequest, key: ApiKey | null): Served {
    const refuse = (failure: PaymentFailure): Served => ({
      reason: facilitatorReasonFor(failure, version, reasonsOfScheme(requirement.scheme)),
      message: failure,
    });
    if (!listSchemes(version).includes(requirement.scheme)) return refuse('wrong_scheme');
    const onNetwork = this.#tokens.filter(({ judged }) => networksOf(judged, version).includes(requirement.network));
    if (onNetwork.length === 0) return refuse('wrong_network');
    const tokens = onNetwork.filter(({ asset }) => asset === requirement.asset);
    const isPaid = ({ judged: { option } }: ServedToken) => lowerHex(option.payTo) === requirement.payTo;
    // One that is paid to several accounts of this seller is an option for each.
    const token = tokens.find(isPaid) ?? tokens[0];
    if (token === undefined)
      return { reason: INVALID_REQUIREMENTS, message: 'This facilitator does not settle this asset.' };
    if (key !== null) assertAccepted(key, token);
    const mismatch = findMismatch(requirement, token);
    if (mismatch !== null) return { reason: INVALID_REQUIREMENTS, message: mismatch };
    if ('failure' in payment) return refuse(payment.failure);
    const { payload } = payment;
    if (payload.scheme !== requirement.scheme) return refuse('wrong_scheme');
    if (!signedMethodOf(payload.payment).versions.includes(version)) return refuse('wrong_scheme');
    if (schemeOf(payload.payment) !== requirement.scheme) return refuse('wrong_scheme');
    if (!isOffered(token.judged.option, signedMethodOf(payload.payment).transferMethod)) return refuse('wrong_scheme');
    if (payload.network !== requirement.network) return refuse('wrong_network');
    return { terms: termsFor(requirement, token), payment: payload.payment, judged: token.judged };
  }
}

/** Of the names in a key's limit, those that stand for an option. */
export function namesOf({ entry, chain }: PaymentOption): readonly [option: string, chain: string] {
  return [entry, caip2Of(chain.id)];
}

/** A further token of the settings is in no option: the limit of a key names its chain only. */
function assertAccepted(key: ApiKey, { asset, judged: { option } }: ServedToken): void {
  const [own, chain] = namesOf(option);
  const names = asset === lowerHex(option.asset) ? [own, chain] : [chain];
  if (mayAccept(key, names)) return;
  const [limit, asked] = [key.accepts.join(', '), names.join(' on ')];
  const detail = `This API key is limited to ${limit}, and the payment requirements are for ${asked}.`;
  throw new ProblemError({ status: 403, code: 'option_not_allowed', detail });
}

function tokenOf({ asset, domainName: name, domainVersion: version }: PaymentOption): SignedAsset {
  return { asset: lowerHex(asset), name, version };
}

function networksOf({ option: { chain } }: JudgedOption, version: 1 | 2): readonly string[] {
  return version === 2 ? [caip2Of(chain.id)] : [v1NetworkOf(chain.id) ?? chain.network, chain.network];
}

function termsFor(
  { payTo, amountBaseUnits }: RequirementTerms,
  { asset, name: assetName, version: assetVersion, judged }: ServedToken,
): SignedPaymentTerms {
  const chainId = judged.option.chain.id;
  return { chainId, asset, assetName, assetVersion, payTo, priceBaseUnits: amountBaseUnits };
}

/** A signature under a domain other than the token's is invalid, whatever the requirements state. */
function findMismatch({ assetName, assetVersion }: RequirementTerms, { name, version }: SignedAsset): string | null {
  if ((assetName ?? name) === name && (assetVersion ?? version) === version) return null;
  return `The EIP-712 domain of this asset has the name ${JSON.stringify(name)} and the version ${JSON.stringify(version)}.`;
}
