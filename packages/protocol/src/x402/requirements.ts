import { isAddress, lowerHex, type Hex } from '../wire/hex.js';
import { isRecord, ownField, type JsonRecord } from '../wire/json-record.js';
import { PaymentError } from '../wire/payment-error.js';
import { readUint256 } from '../wire/token-amount.js';

/** One element of `accepts` in x402 version 1. */
export interface RequirementV1 {
  scheme: string;
  /** Must be a name from `v1NetworkOf`, otherwise no published client pays it. */
  network: string;
  /** Base units, as decimal text. */
  maxAmountRequired: string;
  /** Must be an absolute URL, otherwise no published client pays it. */
  resource: string;
  description: string;
  mimeType: string;
  outputSchema?: Readonly<Record<string, unknown>>;
  payTo: string;
  maxTimeoutSeconds: number;
  asset: string;
  /** `name` and `version` are the token's EIP-712 domain. */
  extra?: Readonly<Record<string, unknown>>;
}

/** One element of `accepts` in x402 version 2. */
export interface RequirementV2 {
  scheme: string;
  /** CAIP-2, as from `caip2Of`. */
  network: string;
  /** Base units, as decimal text. */
  amount: string;
  asset: string;
  payTo: string;
  maxTimeoutSeconds: number;
  extra: Readonly<Record<string, unknown>>;
}

export interface ResourceV2 {
  url: string;
  description?: string;
  mimeType?: string;
}

/** The body of a 402 in x402 version 1. */
export interface PaymentRequiredV1 {
  x402Version: 1;
  error?: string;
  accepts: readonly RequirementV1[];
}

/** A 402 in x402 version 2, sent base64 encoded in `PAYMENT-REQUIRED`. */
export interface PaymentRequiredV2 {
  x402Version: 2;
  error?: string;
  resource: ResourceV2;
  accepts: readonly RequirementV2[];
  extensions?: Readonly<Record<string, unknown>>;
}

/** The payment terms common to both versions. Addresses are lower case. */
export interface RequirementTerms {
  readonly scheme: string;
  readonly network: string;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly amountBaseUnits: string;
  readonly maxTimeoutSeconds: number;
  /** The token's EIP-712 domain; null when the requirement does not give it. */
  readonly assetName: string | null;
  readonly assetVersion: string | null;
  /** Version 1 only. */
  readonly resource: string | null;
}

const MAX_TEXT_LENGTH = 4096;

/**
 * Parses a requirement of the version. Fields that do not affect the payment are not read.
 * @throws PaymentError `malformed_challenge` naming the first invalid field
 */
export function parseRequirementTerms(value: unknown, version: 1 | 2): RequirementTerms {
  if (!isRecord(value)) return refuse('value', 'an object');
  const extra = ownField(value, 'extra');
  const domain = isRecord(extra) ? extra : {};
  const resource = ownField(value, 'resource');
  return {
    scheme: readText(value, 'scheme'),
    network: readText(value, 'network'),
    asset: readAddress(value, 'asset'),
    payTo: readAddress(value, 'payTo'),
    amountBaseUnits: readBaseUnits(value, version === 1 ? 'maxAmountRequired' : 'amount'),
    maxTimeoutSeconds: readSeconds(value, 'maxTimeoutSeconds'),
    assetName: readDomain(domain, 'name'),
    assetVersion: readDomain(domain, 'version'),
    resource: version === 1 && isText(resource) ? resource : null,
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT_LENGTH;
}

function readText(record: JsonRecord, name: string): string {
  const value = ownField(record, name);
  return isText(value) && value !== '' ? value : refuse(name, 'a non-empty string');
}

function readAddress(record: JsonRecord, name: string): Hex {
  const value = ownField(record, name);
  return isAddress(value) ? lowerHex(value) : refuse(name, 'a 20-byte address');
}

function readBaseUnits(record: JsonRecord, name: string): string {
  return readUint256(ownField(record, name))?.toString() ?? refuse(name, 'a decimal integer, as text');
}

function readSeconds(record: JsonRecord, name: string): number {
  const value = ownField(record, name);
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : refuse(name, 'a positive integer');
}

function readDomain(extra: JsonRecord, name: string): string | null {
  const value = ownField(extra, name);
  return isText(value) ? value : null;
}

function refuse(field: string, expected: string): never {
  const message = `The payment requirement's ${field} is not ${expected}.`;
  throw new PaymentError('malformed_challenge', message, { details: { field } });
}
