import { isAddress, isHttpUrl, isRecord, PaymentError } from '@tollgate/protocol';

import type { PaymentTerms } from '../offer/challenge.js';
import type { PaymentStore } from '../stores/payment-store.js';
import type { FacilitatorOptions } from '../verify/facilitator.js';

/** A payment that may have moved, for an answer that its payer did not get. */
export interface OwedPayment {
  /** Its name in the store; it stays the same if a payment is reported again. */
  payment: string;
  chainId: number;
  payer: string;
  payTo: string;
  asset: string;
  /** As decimal text. */
  amountBaseUnits: string;
  /** URL of the resource, without the query. */
  resource: string;
}

export interface GateOptions extends PaymentTerms {
  facilitator: FacilitatorOptions;
  /**
   * JSON-RPC server of the chain. It decides what became of a payment where the facilitator's answer was lost; without it
   * the payer may have to wait for you.
   */
  rpcUrl?: string;
  /** How many blocks, with its own, a settlement needs to count for `rpcUrl`; default 1. */
  confirmations?: number;
  /** Stores payment records and sold responses; default: this process's memory. */
  store?: PaymentStore;
  /** How long a sold response can be replayed; default 86,400. */
  keepSeconds?: number;
  /** How long a payment stays claimed after its process has died; default 30. */
  leaseSeconds?: number;
  /** Largest body that is stored; larger responses are sold but not stored. Default 262,144. */
  maxAnswerBytes?: number;
  /**
   * How much of a response is held back until its payment is settled. A stream that goes on is settled then, and sent
   * as it comes. At least `maxAnswerBytes`; default 1,048,576.
   */
  maxHeldBytes?: number;
  /** Origin of the resources in challenges, if it differs from that of the requests: behind a proxy. */
  publicUrl?: string;
  /**
   * Whether every request comes through a proxy that sets `X-Forwarded-Host` and `X-Forwarded-Proto`; default false. For
   * Hono and Next: Express and Fastify have a setting of their own, which counts.
   */
  trustProxy?: boolean;
  /**
   * Called each time the facilitator or the store is unavailable (the client gets 503) or the facilitator refuses this
   * server (500). Default: a warning, for refusals once a minute.
   */
  onTrouble?: (error: Error) => void;
  /**
   * Called when the result of a settlement is unknown an hour after the payment's last moment, and its client asks for the
   * answer: look at the chain, and pay back what has moved. Called again if it throws or rejects, and maybe after a crash.
   * Default: `onTrouble`.
   */
  onOwed?: (owed: OwedPayment) => unknown;
}

export const MAX_ANSWER_BYTES = 262_144;
export const MAX_HELD_BYTES = 1_048_576;

/**
 * Checks the options at run time, since an unset environment variable arrives as undefined whatever the types say.
 * Reports every problem before anything is sold.
 * @throws PaymentError `invalid_options`
 */
export function assertGateOptions(options: GateOptions): void {
  const { payTo, chainId, store, ...given } = readRecord(options);
  const [facilitator, asset] = [readRecord(given['facilitator']), readRecord(given['asset'])];
  const problems = [
    (typeof facilitator['url'] === 'string' && isHttpUrl(facilitator['url'])) ||
      'facilitator.url is not an http or https URL',
    isApiKey(facilitator['apiKey']) || 'facilitator.apiKey is not a text that fits into a header',
    isAddress(payTo) || 'payTo is not an address',
    isAddress(asset['address']) || 'asset.address is not an address',
    typeof asset['name'] === 'string' || 'asset.name is not a text',
    typeof asset['version'] === 'string' || 'asset.version is not a text',
    isWhole(asset['decimals'], 0, 255) || 'asset.decimals is not a whole number from 0 to 255',
    isWhole(chainId, 1, Number.MAX_SAFE_INTEGER) || 'chainId is not a whole number above 0',
    isOptionalWhole(facilitator['timeoutMs'], 1) || 'facilitator.timeoutMs is not a whole number above 0',
    given['rpcUrl'] === undefined ||
      (typeof given['rpcUrl'] === 'string' && isHttpUrl(given['rpcUrl'])) ||
      'rpcUrl is not an http or https URL',
    isOptionalWhole(given['confirmations'], 1) || 'confirmations is not a whole number above 0',
    isOptionalWhole(given['maxTimeoutSeconds'], 1) || 'maxTimeoutSeconds is not a whole number above 0',
    isOptionalWhole(given['keepSeconds'], 1) || 'keepSeconds is not a whole number above 0',
    isOptionalWhole(given['leaseSeconds'], 1) || 'leaseSeconds is not a whole number above 0',
    isOptionalWhole(given['maxAnswerBytes'], 0) || 'maxAnswerBytes is not a whole number',
    isOptionalWhole(given['maxHeldBytes'], 1) || 'maxHeldBytes is not a whole number above 0',
    Number(given['maxAnswerBytes'] ?? MAX_ANSWER_BYTES) <= Number(given['maxHeldBytes'] ?? MAX_HELD_BYTES) ||
      'maxHeldBytes is less than maxAnswerBytes',
    given['publicUrl'] === undefined ||
      (typeof given['publicUrl'] === 'string' && isHttpUrl(given['publicUrl'])) ||
      'publicUrl is not an http or https URL',
    given['trustProxy'] === undefined || typeof given['trustProxy'] === 'boolean' || 'trustProxy is not a boolean',
    given['onTrouble'] === undefined || typeof given['onTrouble'] === 'function' || 'onTrouble is not a function',
    given['onOwed'] === undefined || typeof given['onOwed'] === 'function' || 'onOwed is not a function',
    store === undefined || isStore(readRecord(store)) || 'store lacks the methods read and replace',
  ].filter((problem) => typeof problem === 'string');
  if (problems.length === 0) return;
  throw new PaymentError('invalid_options', `The gate options are invalid: ${problems.join('; ')}.`, {
    hint: 'Check that the environment variables behind them are set.',
    details: { problems },
  });
}

function readRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** Whether the key fits into a header; otherwise fetch would quote the key in its error. */
function isApiKey(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && /^[\x20-\x7e]*$/.test(value));
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most;
}

function isOptionalWhole(value: unknown, least: number): boolean {
  return value === undefined || isWhole(value, least, Number.MAX_SAFE_INTEGER);
}

function isStore({ read, replace }: Record<string, unknown>): boolean {
  return typeof read === 'function' && typeof replace === 'function';
}
