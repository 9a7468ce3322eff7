import { findShownMethod, type SignedPayment } from '../methods/registry.js';
import { parseSignedPayment } from '../methods/signed-payment.js';
import { isHash, isHexBytes, type Hex } from '../wire/hex.js';
import { decodeJsonHeader, encodeJsonHeader } from '../wire/json-header.js';
import { isRecord, ownField, type JsonRecord } from '../wire/json-record.js';
import { PaymentError, type PaymentFailure } from '../wire/payment-error.js';

/** The content of the `X-Payment` header (specification, "PaymentProof"; `reference` and `signature` are ours). */
export interface PaymentProof {
  x402Version: 1;
  scheme: 'exact';
  network: string;
  payload: {
    /** In the payer's letter case; compare and index it in lower case. */
    txHash: Hex;
    /** Base units as stated by the payer; not checked. */
    amount?: string;
    /** The payer's address as stated by the payer; not checked. */
    from?: string;
    /** The challenge's reference, whose hash is the lock of the transaction. */
    reference?: string;
    /** The payer's signature over `proofMessage`, for wallets that cannot append a lock. */
    signature?: Hex;
  };
}

/** A signed payment in the form of x402 version 1, in the same header. */
export interface SignedProof {
  x402Version: 1;
  scheme: 'exact';
  network: string;
  payload: SignedPayment;
}

/** The longest header value that is parsed. */
export const MAX_PROOF_HEADER_BYTES = 8192;

function refuse(code: PaymentFailure, why: string, hint?: string): never {
  throw new PaymentError(code, `The payment proof ${why}.`, hint === undefined ? {} : { hint });
}

// `amount` and `from` are informational: values of another type are dropped, not refused.
function readRemark(payload: JsonRecord, name: string): string | undefined {
  const value = ownField(payload, name);
  return typeof value === 'string' ? value : undefined;
}

function parseReferenceField(payload: JsonRecord): string | undefined {
  const value = ownField(payload, 'reference');
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : refuse('malformed_proof', 'has a payload.reference that is not a string');
}

function parseSignatureField(payload: JsonRecord): Hex | undefined {
  const value = ownField(payload, 'signature');
  if (value === undefined || value === null) return undefined;
  return isHexBytes(value) ? value : refuse('malformed_proof', 'has a payload.signature that is not hexadecimal');
}

/**
 * Parses the `payload` of a transaction sent by the payer.
 * @throws PaymentError `malformed_proof`
 */
export function parseTransactionPayload(value: unknown): PaymentProof['payload'] {
  if (!isRecord(value)) return refuse('malformed_proof', 'has no payload object');
  const txHash = ownField(value, 'txHash');
  if (!isHash(txHash)) return refuse('malformed_proof', 'has no 32-byte payload.txHash');
  const amount = readRemark(value, 'amount');
  const from = readRemark(value, 'from');
  const reference = parseReferenceField(value);
  const signature = parseSignatureField(value);
  return {
    txHash,
    ...(amount === undefined ? {} : { amount }),
    ...(from === undefined ? {} : { from }),
    ...(reference === undefined ? {} : { reference }),
    ...(signature === undefined ? {} : { signature }),
  };
}

/**
 * Whether a payload is a signed payment rather than a transaction sent by the payer.
 * @throws PaymentError `malformed_proof` when it is both, because the verdict would depend on which form is read first.
 */
export function isSignedPayload(payload: unknown): boolean {
  if (!isRecord(payload)) return false;
  const isSigned = findShownMethod(payload) !== null;
  if (!isSigned || ownField(payload, 'txHash') === undefined) return isSigned;
  return refuse('malformed_proof', 'is both a transaction and a signed payment', 'Send one of them.');
}

interface ProofOptions {
  /** The configured network name, or several accepted ones. */
  network: string | readonly string[];
}

function parseHead(headerValue: string, options: ProofOptions): { network: string; payload: unknown } {
  const proof = decodeJsonHeader(headerValue, MAX_PROOF_HEADER_BYTES);
  if (ownField(proof, 'x402Version') !== 1) return refuse('wrong_version', 'is not of x402Version 1');
  if (ownField(proof, 'scheme') !== 'exact') return refuse('wrong_scheme', 'is not of scheme "exact"');
  const network = ownField(proof, 'network');
  const accepted = typeof options.network === 'string' ? [options.network] : options.network;
  if (typeof network !== 'string' || !accepted.includes(network)) {
    return refuse('wrong_network', 'names another network', `Pay on ${accepted.join(' or ')}.`);
  }
  return { network, payload: ownField(proof, 'payload') };
}

/**
 * Parses the header's value: base64 in either alphabet, padded or not, of a JSON proof (verification rules 1 and 2).
 * The result holds only known own fields.
 * @throws PaymentError `malformed_proof`, `wrong_version`, `wrong_scheme` or `wrong_network`.
 */
export function parseProof(headerValue: string, options: ProofOptions): PaymentProof {
  const { network, payload } = parseHead(headerValue, options);
  return { x402Version: 1, scheme: 'exact', network, payload: parseTransactionPayload(payload) };
}

/**
 * Like `parseProof`, for a gate that also settles signed payments: the payload's fields decide which one it is.
 * @throws PaymentError `malformed_proof`, `wrong_version`, `wrong_scheme` or `wrong_network`.
 */
export function parseProofOrSigned(headerValue: string, options: ProofOptions): PaymentProof | SignedProof {
  const { network, payload } = parseHead(headerValue, options);
  const head = { x402Version: 1, scheme: 'exact', network } as const;
  return isSignedPayload(payload)
    ? { ...head, payload: parseSignedPayment(payload) }
    : { ...head, payload: parseTransactionPayload(payload) };
}

/** The `X-Payment` header's value for a proof. */
export function encodeProof(proof: PaymentProof): string {
  return encodeJsonHeader(proof);
}

/**
 * The text that a payer signs (EIP-191) to bind a transaction to a challenge if its wallet cannot append a hash lock.
 */
export function proofMessage(reference: string, txHash: string): string {
  return `I paid for the challenge ${reference}\nwith the transaction ${txHash.toLowerCase()}`;
}
