import { createChallenge, type ChallengeError, type Hex, type PaymentRequirement } from '@tollgate/protocol';

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
    const [start = '', , middle = '', , end = ''] = cutObjectAtMarks(toAsciiJson(createChallenge(requirement)));
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

/** JSON in ASCII only, so that its length in characters is its length in bytes. */
export function toAsciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** JSON in UTF-8, a character for each byte: as base64 takes it, in fewer bytes than ASCII. */
export function toUtf8Json(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('latin1');
}

/** As text, or as JSON has it. */
const MARK = /"?(?:\u0001|\\u0001)(\w+)(?:\u0001|\\u0001)"?/;

/** A placeholder for a part that differs in each challenge. */
export function markOf(name: string): string {
  return `\u0001${name}\u0001`;
}

/** Alternating text and names of marks, without the quotation marks around a mark. */
export function cutAtMarks(text: string): string[] {
  return text.split(MARK);
}

/** An object's JSON, cut at its marks. The last text lacks the closing brace, since an error may still follow. */
export function cutObjectAtMarks(json: string): string[] {
  return cutAtMarks(json.slice(0, -1));
}
