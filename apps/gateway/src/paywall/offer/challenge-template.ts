import { createChallenge, type ChallengeError, type Hex, type PaymentRequirement } from '@tollgate/protocol';

import { cutAtMarks, markOf, toAsciiJson } from './ascii-json.js';

export interface ChallengeFacts {
  readonly network: string;
  readonly asset: Hex;
  /** `extra.name`: the token's symbol, or its EIP-712 name for clients that sign. */
  readonly assetName: string;
  readonly assetVersion: string;
  readonly payTo: Hex;
  readonly maxTimeoutSeconds: number;
  readonly priceBaseUnits: bigint;
  readonly description: string;
  readonly mimeType: string;
}

/**
 * The body of a route's 402s as ASCII JSON (specification, "PaymentChallenge"), so that its length in characters is its
 * length in bytes. Everything but the reference and the resource's path is rendered once.
 */
export class ChallengeTemplate {
  readonly #start: string;
  readonly #middle: string;
  readonly #end: string;

  constructor(facts: ChallengeFacts) {
    const requirement: PaymentRequirement = {
      scheme: 'exact',
      network: facts.network,
      maxAmountRequired: facts.priceBaseUnits.toString(),
      resource: markOf('resource'),
      description: facts.description,
      mimeType: facts.mimeType,
      payTo: facts.payTo,
      maxTimeoutSeconds: facts.maxTimeoutSeconds,
      asset: facts.asset,
      extra: { name: facts.assetName, version: facts.assetVersion, reference: markOf('reference') },
    };
    const [start = '', , middle = '', , end = ''] = cutAtMarks(createChallenge(requirement));
    this.#start = start;
    this.#middle = `${middle}"`;
    this.#end = `"${end}`;
  }

  /** The part before the reference. It may be cached for a resource that does not change. */
  renderStart(resource: string): string {
    return this.#start + toAsciiJson(resource) + this.#middle;
  }

  renderEnd(error?: ChallengeError): string {
    return error === undefined ? `${this.#end}}` : `${this.#end},"error":${toAsciiJson(error)}}`;
  }
}
