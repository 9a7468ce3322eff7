import { isAddress, isRecord, parseTokenAmount, PaymentError } from '@tollgate/protocol';

import type { Wallet } from '../account/wallet.js';
import { listPayingMethods, type MethodOptions } from '../methods/registry.js';
import type { SkippedOffer } from '../offer/judge-offers.js';
import type { PaymentWay } from '../offer/signable-requirement.js';
import { SpendingLimit } from '../offer/spending-limit.js';
import type { TrustedAsset } from '../offer/trusted-asset.js';
import { openPaymentStore } from '../store/open-payment-store.js';
import type { PaymentStore, StoredPayment } from '../store/payment-store.js';

/** Progress events, for logs and progress displays. */
export type PaymentEvent =
  | { type: 'resuming'; key: string; payment: StoredPayment }
  /** Emitted before `intended` for the offers that come before the chosen one, of each asset once for each reason. */
  | ({ type: 'skipped'; key: string } & SkippedOffer)
  | { type: 'intended'; key: string; payment: StoredPayment; price: string }
  /** `sent`: the chain took the transaction that pays. */
  | { type: 'signed' | 'sent' | 'mined'; key: string; payment: StoredPayment }
  | { type: 'waiting'; key: string; reason: string; delayMs: number }
  | { type: 'redeemed'; key: string; payment: StoredPayment; status: number };

export interface PaymentOptions extends MethodOptions {
  /**
   * The only assets to pay with, preferred ones first. There is no default: with an empty list nothing is paid.
   */
  assets: readonly TrustedAsset[];
  /** The maximum of a single payment, as decimal text in the asset's unit, for example `'0.01'`. */
  maxAmount: string;
  /**
   * The maximum of all payments of this client together, per asset; if omitted there is no total limit. Each call of
   * `fetchWithPayment`, `payWithAxios` or `payForTools` creates one client, and each call of `payForResource` is one:
   * to share one limit between several, give them the same `SpendingLimit`.
   */
  maxTotal?: string | SpendingLimit;
  /** Only offers that are paid in this way; if omitted, in any that the wallet can. */
  way?: PaymentWay;
  /**
   * Where payments are stored to survive a crash. Default: in a folder of the payer, below TOLLGATE_STATE_DIR or the
   * user's state folder; in memory where there is no file system. `memory` survives none. Several wallets have the folder
   * of the first.
   */
  store?: PaymentStore | 'memory';
  /** From the signature to the answer, above 0; 60 s. */
  deadlineMs?: number;
  /**
   * One attempt to fetch the paid answer; 30 s. A longer answer or an event stream that nobody begins to read for this
   * time counts as received.
   */
  attemptTimeoutMs?: number;
  /** Allow payments over plain HTTP to other machines; default false. */
  allowInsecureHttp?: boolean;
  onEvent?: (event: PaymentEvent) => void;
}

/** The options with all defaults applied, and the state that the calls of one client share. */
export interface PaymentContext
  extends MethodOptions, Required<Omit<PaymentOptions, keyof MethodOptions | 'maxTotal' | 'way' | 'store'>> {
  store: PaymentStore;
  way: PaymentWay | undefined;
  fetch: typeof globalThis.fetch;
  /** One a chain. */
  wallets: readonly Wallet[];
  limit: SpendingLimit | undefined;
}

/** @throws PaymentError `invalid_options` or `invalid_amount`, before any request. */
export function createContext(
  fetch: typeof globalThis.fetch,
  given: Wallet | readonly Wallet[],
  options: PaymentOptions,
): PaymentContext {
  const wallets: readonly Wallet[] = isList(given) ? given : [given];
  assertParts({ ...options, fetch, wallets });
  const { maxTotal } = options;
  const limit = typeof maxTotal === 'string' ? new SpendingLimit(maxTotal) : maxTotal;
  for (const { address, chainId, decimals, payTo, maxAmount = options.maxAmount } of options.assets) {
    if (!isAddress(address) || (payTo !== undefined && !isAddress(payTo))) {
      throw new PaymentError('invalid_options', 'A trusted asset has a malformed address.', {
        details: { address, payTo },
      });
    }
    if (!Number.isSafeInteger(chainId)) throw new PaymentError('invalid_options', 'A trusted asset has no chain id.');
    parseTokenAmount(maxAmount, decimals);
    if (limit !== undefined) parseTokenAmount(limit.maxTotal, decimals);
    for (const { allowance } of listPayingMethods()) {
      const given = allowance && options[allowance.option];
      if (given !== undefined) parseTokenAmount(given, decimals);
    }
  }
  return {
    ...options,
    // Browsers refuse a fetch that is called as a method.
    fetch: (...request) => fetch(...request),
    wallets,
    limit,
    way: options.way,
    store: openPaymentStore(options.store, wallets[0] as Wallet),
    deadlineMs: options.deadlineMs ?? 60_000,
    attemptTimeoutMs: options.attemptTimeoutMs ?? 30_000,
    allowInsecureHttp: options.allowInsecureHttp ?? false,
    onEvent: options.onEvent ?? (() => undefined),
  };
}

/** Checked at run time despite the types: plain JavaScript, or an unset variable, may pass anything. */
function assertParts({
  fetch,
  wallets,
  assets,
  maxTotal,
  ...times
}: Record<string, unknown> & { wallets: readonly unknown[] }): void {
  const problems = [
    typeof fetch === 'function' || 'fetch is not a function',
    ...findWalletProblems(wallets),
    Array.isArray(assets) || 'assets is not a list of trusted assets',
    maxTotal === undefined ||
      typeof maxTotal === 'string' ||
      hasMethod(maxTotal, 'reserve') ||
      'maxTotal is neither decimal text nor a SpendingLimit',
    isTime(times['deadlineMs'], Infinity) || 'deadlineMs is not a number above 0',
    isTime(times['attemptTimeoutMs'], LONGEST_TIMER_MS) ||
      `attemptTimeoutMs is not a number from 1 to ${LONGEST_TIMER_MS}`,
  ].filter((problem) => typeof problem === 'string');
  if (problems.length === 0) return;
  throw new PaymentError('invalid_options', `This client cannot pay: ${problems.join('; ')}.`, {
    hint: 'Pass a fetch function, a wallet and the options.',
    details: { problems },
  });
}

/** The chain of a wallet says which one pays. */
function findWalletProblems(wallets: readonly unknown[]): string[] {
  if (wallets.length === 0) return ['there is no wallet'];
  const problems: string[] = [];
  const chainIds = new Set<unknown>();
  for (const wallet of wallets) {
    if (!isRecord(wallet) || !isAddress(wallet['address'])) {
      problems.push('wallet has no address');
    } else if (chainIds.has(wallet['chainId'])) {
      problems.push(`two wallets are on chain ${String(wallet['chainId'])}`);
    } else chainIds.add(wallet['chainId']);
  }
  return problems;
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}

/** A longer timer would end at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

function isTime(value: unknown, most: number): boolean {
  return value === undefined || (typeof value === 'number' && value > 0 && value <= most);
}

function hasMethod(value: unknown, name: string): boolean {
  return isRecord(value) && typeof value[name] === 'function';
}
