import {
  isAddress,
  isRecord,
  ownField,
  parseRequirementTerms,
  PaymentError,
  type Hex,
  type JsonRecord,
  type PaymentRequirement,
} from '@tollgate/protocol';

/** What a server asks for that takes signed payments: nothing of the payer's own has to be sent. */
interface SignedTerms {
  x402Version: 1 | 2;
  /** By its name in version 1, in version 2 as CAIP-2. */
  network: string;
  /** Decimal integer in base units of the asset. */
  maxAmountRequired: string;
  payTo: Hex;
  maxTimeoutSeconds: number;
  asset: Hex;
  /** Version 2: `accepted`, `resource` and `extensions`, which go back as they came. */
  sent: JsonRecord;
}

/** Paid by an EIP-3009 authorization. */
export interface AuthorizableRequirement extends SignedTerms {
  scheme: 'exact';
  /** The token's EIP-712 domain, as the server says it. */
  extra: { name: string; version: string };
}

/** Paid by Permit2; under `upto` what is asked for is the most that may be moved, by that facilitator alone. */
export type PermittableRequirement = SignedTerms &
  (
    | { scheme: 'exact'; extra: { name: string | null; assetTransferMethod: 'permit2' } }
    | { scheme: 'upto'; extra: { name: string | null; assetTransferMethod: 'permit2'; facilitatorAddress: Hex } }
  );

export type SignableRequirement = AuthorizableRequirement | PermittableRequirement;

export const isSignable = (requirement: PaymentRequirement | SignableRequirement): requirement is SignableRequirement =>
  'x402Version' in requirement;

export const isPermittable = (requirement: SignableRequirement): requirement is PermittableRequirement =>
  'assetTransferMethod' in requirement.extra;

/** The server's spelling may fail the checksum of mixed case. */
const lower = (address: Hex): Hex => address.toLowerCase() as Hex;

function refuse(why: string): never {
  throw new PaymentError('malformed_challenge', `The payment requirement ${why}.`);
}

/**
 * Reads one element of `accepts`. `envelope`: what of a version 2 challenge stands beside its `accepts`.
 * @throws PaymentError `malformed_challenge` when it is not one that a signature pays.
 */
export function parseSignableRequirement(
  value: unknown,
  x402Version: 1 | 2,
  envelope: { resource?: unknown; extensions?: unknown } = {},
): SignableRequirement {
  const sent = x402Version === 2 ? { accepted: value, ...envelope } : {};
  return parseTerms(value, { x402Version, amountVersion: x402Version, sent });
}

/**
 * Reads one back that was stored.
 * @throws TypeError or PaymentError when it is not what was written.
 */
export function parseStoredSignable(value: JsonRecord): SignableRequirement {
  const [x402Version, sent] = [ownField(value, 'x402Version'), ownField(value, 'sent')];
  if ((x402Version !== 1 && x402Version !== 2) || !isRecord(sent)) throw new TypeError('requirement has no version');
  return parseTerms(value, { x402Version, amountVersion: 1, sent });
}

/** `amountVersion`: in whose words the amount stands. */
function parseTerms(
  value: unknown,
  { x402Version, amountVersion, sent }: Pick<SignedTerms, 'x402Version' | 'sent'> & { amountVersion: 1 | 2 },
): SignableRequirement {
  const terms = parseRequirementTerms(value, amountVersion);
  const { scheme, network, amountBaseUnits: maxAmountRequired, payTo, maxTimeoutSeconds, asset } = terms;
  const common = { x402Version, network, maxAmountRequired, payTo, maxTimeoutSeconds, asset, sent };
  const extra = isRecord(value) ? ownField(value, 'extra') : undefined;
  const said = isRecord(extra) ? extra : {};
  const method = ownField(said, 'assetTransferMethod');
  const { assetName: name, assetVersion: version } = terms;

  // Version 1 knows no other scheme, and nothing but EIP-3009.
  if (scheme === 'upto' && x402Version === 2) {
    const facilitatorAddress = ownField(said, 'facilitatorAddress');
    if (method !== undefined && method !== 'permit2') return refuse('is not paid by Permit2');
    if (!isAddress(facilitatorAddress)) return refuse('does not say who may settle it');
    const extra = { name, assetTransferMethod: 'permit2', facilitatorAddress: lower(facilitatorAddress) } as const;
    return { ...common, scheme, extra };
  }
  if (scheme !== 'exact') return refuse(`is of scheme "${scheme}"`);
  if (method === 'permit2' && x402Version === 2)
    return { ...common, scheme, extra: { name, assetTransferMethod: method } };
  if (method !== undefined && method !== 'eip3009') return refuse('is not paid by EIP-3009');
  if (name === null || version === null) return refuse('does not say the domain of its asset');
  return { ...common, scheme, extra: { name, version } };
}
