import {
  caip2Of,
  encodeJsonHeader,
  parseTokenAmount,
  PAYMENT_REQUIRED,
  PaymentError,
  v1NetworkOf,
  type Hex,
  type PaymentRequiredV1,
  type PaymentRequiredV2,
  type RequirementV1,
  type RequirementV2,
} from '@tollgate/protocol';

import { createAnswer, type Answer } from '../answer/answer.js';

/** A token that supports EIP-3009 authorizations. */
export interface Asset {
  address: Hex;
  /** Name and version of its EIP-712 domain. */
  name: string;
  version: string;
  decimals: number;
}

/** The recipient, token and chain of payments. */
export interface PaymentTerms {
  payTo: Hex;
  asset: Asset;
  chainId: number;
  /** Seconds for which a signed payment should be valid; default 300. */
  maxTimeoutSeconds?: number;
}

/** The price and description of a paid resource. */
export interface Offer {
  /** A decimal number in units of the asset: `0.001`. */
  price: string;
  description?: string;
  /** Media type of the response; default `application/json`. */
  mimeType?: string;
  /**
   * `after`: for what the handler has produced, as far as it is held back. `before`: ahead of the handler, for streams
   * without an end; if it fails, the same request with the same payment gets an answer later. Default `after`.
   */
  settle?: 'before' | 'after';
}

/** Renders the 402s of one offer, and the payment requirements that payments for it must meet. */
export class Challenge {
  readonly amountBaseUnits: bigint;
  readonly settles: 'before' | 'after';

  /**
   * @throws PaymentError `invalid_amount` for a price of 0, or one that the asset cannot express; `invalid_options` for another
   * `settle`
   */
  constructor(
    private readonly terms: PaymentTerms,
    private readonly offer: Offer,
  ) {
    this.amountBaseUnits = parseTokenAmount(offer.price, terms.asset.decimals);
    if (this.amountBaseUnits === 0n)
      throw new PaymentError('invalid_amount', 'The price is 0, which nobody can pay.', {
        hint: 'Give a price above 0, or serve the route without the gate.',
      });
    const { settle = 'after' } = offer;
    if (settle !== 'before' && settle !== 'after')
      throw new PaymentError('invalid_options', `settle is neither 'before' nor 'after'.`);
    this.settles = settle;
  }

  /** Whether an amount in base units is at least the price. */
  isMetBy(amountBaseUnits: string): boolean {
    return BigInt(amountBaseUnits) >= this.amountBaseUnits;
  }

  /** The payment requirements of an x402 version. Null for x402 v1 on a chain that its clients have no name for. */
  requirementFor(version: 1, resource: string): RequirementV1 | null;
  requirementFor(version: 2, resource: string, reference: string | null): RequirementV2;
  requirementFor(version: 1 | 2, resource: string, reference: string | null): RequirementV1 | RequirementV2 | null;
  requirementFor(
    version: 1 | 2,
    resource: string,
    reference: string | null = null,
  ): RequirementV1 | RequirementV2 | null {
    const { payTo, asset, chainId, maxTimeoutSeconds = 300 } = this.terms;
    const extra = { name: asset.name, version: asset.version };
    const common = { scheme: 'exact', payTo, asset: asset.address, maxTimeoutSeconds, extra };
    if (version === 2) {
      const given = reference === null ? {} : { extra: { ...extra, reference } };
      return { ...common, ...given, network: caip2Of(chainId), amount: this.amountBaseUnits.toString() };
    }
    const network = v1NetworkOf(chainId);
    if (network === null) return null;
    return { ...common, ...this.#describe(), network, maxAmountRequired: this.amountBaseUnits.toString(), resource };
  }

  /** Renders one 402 for clients of both x402 versions: v1 in the body, v2 in the header. */
  render(resource: string, error?: string, headers: Readonly<Record<string, string>> = {}): Answer {
    const reason = error === undefined ? {} : { error };
    const v2: PaymentRequiredV2 = {
      x402Version: 2,
      ...reason,
      resource: { url: resource, ...this.#describe() },
      // The reference. x402 v2 clients return it and it never appears on the chain, so knowing it identifies the client
      // that got the challenge.
      accepts: [this.requirementFor(2, resource, crypto.randomUUID())],
    };
    const requirement = this.requirementFor(1, resource);
    const v1: PaymentRequiredV1 | null = requirement && { x402Version: 1, ...reason, accepts: [requirement] };
    return createAnswer(402, v1 ?? v2, { [PAYMENT_REQUIRED]: encodeJsonHeader(v2), ...headers });
  }

  #describe(): { description: string; mimeType: string } {
    const { description = '', mimeType = 'application/json' } = this.offer;
    return { description, mimeType };
  }
}
