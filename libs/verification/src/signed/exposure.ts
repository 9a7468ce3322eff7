import { chainMethods, type ChainReader } from '@tollgate/chain';
import { nonceOf, payerOf, signedAmountOf, type Hex, type SignedPayment } from '@tollgate/protocol';
import type { SignedPaymentTerms } from '@tollgate/transport';

/** Sums of what may still be taken from each payer in each token, in base units. */
export class ExposureCounter {
  readonly #sums = new Map<string, bigint>();

  /** The key of a payer's sum in one token. */
  static keyOf({ asset, payer }: { asset: Hex; payer: Hex }): string {
    return `${asset} ${payer}`;
  }

  read(key: string): bigint {
    return this.#sums.get(key) ?? 0n;
  }

  /** A negative amount is taken off. */
  add(key: string, amountBaseUnits: bigint): void {
    const sum = this.read(key) + amountBaseUnits;
    if (sum === 0n) this.#sums.delete(key);
    else this.#sums.set(key, sum);
  }
}

/** A payment that was not sent yet, with the terms it was judged by. */
export interface UnsentPayment {
  terms: SignedPaymentTerms;
  payment: SignedPayment;
}

export interface ExposureOptions {
  chain: Pick<ChainReader, 'readMeans'>;
  /** Whether a request holds the payment, or a relayer has it in a job. */
  mayStillMove: (unsent: UnsentPayment) => Promise<boolean>;
}

/** A payment that counts against its payer's balance. */
export interface OpenPayment extends UnsentPayment {
  amountBaseUnits: bigint;
  /** The number of claims of it in progress. */
  claiming: number;
  isClaimed: boolean;
  sinceMs: number;
}

/** How many open payments are looked up to make room for one more. */
const LOOKED_UP = 16;
/**
 * Older payments, or more than this many, are no longer counted; that they exceed the balance then shows when they are
 * settled.
 */
const KEPT_MS = 300_000;
const MOST_KEPT = 20_000;

/**
 * Payments that were claimed in this process and may still be moved. Each is valid alone, but when several are
 * signed over one balance, the resource would be produced in vain for all but the first.
 */
export class Exposure {
  readonly #counter = new ExposureCounter();
  /** By payer and token, each in order of the last look-up, the oldest first. */
  readonly #open = new Map<string, Map<string, OpenPayment>>();
  /** The open payments of all payers, the oldest first. */
  readonly #kept = new Set<OpenPayment>();

  constructor(private readonly options: ExposureOptions) {}

  /**
   * Counts a payment that is about to be claimed, until `close`, if its payer's balance when it was judged covers it
   * together with its open payments. `payer_busy`: too many of those are open to decide now, or the payment itself may
   * be moved, or has just been.
   * @throws ChainUnavailableError, StoreError
   */
  async open(
    unsent: UnsentPayment,
    { balanceBaseUnits, deadlineMs }: { balanceBaseUnits: bigint; deadlineMs: number },
  ): Promise<OpenPayment | 'balance_too_low' | 'payer_busy'> {
    return this.#count(unsent, balanceBaseUnits) ?? this.#countBesideOthers(unsent, deadlineMs);
  }

  /** Call when the ledger has answered: a payment that was claimed is counted on. */
  close(open: OpenPayment, { isClaimed }: { isClaimed: boolean }): void {
    if (isClaimed) open.isClaimed = true;
    open.claiming--;
    if (open.claiming === 0 && !open.isClaimed) this.#forget(open);
  }

  /** Null when the balance does not cover it. A payment that is asked about again is open already. */
  #count({ terms, payment }: UnsentPayment, balanceBaseUnits: bigint): OpenPayment | null {
    this.#forgetOldest();
    const payer = keyOf({ terms, payment });
    const payments = this.#open.get(payer) ?? new Map<string, OpenPayment>();
    const known = payments.get(nameIn(payment));
    if (known) {
      known.claiming++;
      return known;
    }
    const amountBaseUnits = BigInt(signedAmountOf(payment));
    if (this.#counter.read(payer) + amountBaseUnits > balanceBaseUnits) return null;
    const open: OpenPayment = {
      terms,
      payment,
      amountBaseUnits,
      claiming: 1,
      isClaimed: false,
      sinceMs: performance.now(),
    };
    this.#counter.add(payer, amountBaseUnits);
    payments.set(nameIn(payment), open);
    this.#open.set(payer, payments);
    this.#kept.add(open);
    return open;
  }

  async #countBesideOthers(
    unsent: UnsentPayment,
    deadlineMs: number,
  ): Promise<OpenPayment | 'balance_too_low' | 'payer_busy'> {
    const payments = this.#open.get(keyOf(unsent)) ?? new Map<string, OpenPayment>();
    const isAll = payments.size <= LOOKED_UP;
    const looked = [...payments.values()].slice(0, LOOKED_UP);
    for (const open of looked) {
      payments.delete(nameIn(open.payment));
      payments.set(nameIn(open.payment), open);
    }
    const { asset } = unsent.terms;
    const payer = payerOf(unsent.payment);
    // The payment itself first: when no job holds it any more, it was moved before its nonce is read, and its payer
    // must not be asked to pay again.
    if (await this.options.mayStillMove(unsent)) return 'payer_busy';
    const nonces = [unsent, ...looked].map(({ payment }) => chainMethods.of(payment).askForNonceOf(payment, asset));
    const means = await this.options.chain.readMeans({ asset, payer, nonces }, deadlineMs);
    const { balanceBaseUnits } = means;
    const [isTaken, ...areTaken] = means.areTaken;
    if (isTaken === true) return 'payer_busy';
    await Promise.all(
      looked.map(async (open, index) => {
        const mayStillMove = areTaken[index] !== true && (await this.options.mayStillMove(open));
        // A payment that is being claimed has no lease yet, so it must not be forgotten.
        if (!mayStillMove && open.claiming === 0) this.#forget(open);
      }),
    );
    return this.#count(unsent, balanceBaseUnits) ?? (isAll ? 'balance_too_low' : 'payer_busy');
  }

  #forget(open: OpenPayment): void {
    const payer = keyOf(open);
    const payments = this.#open.get(payer);
    if (!this.#kept.delete(open) || !payments) return;
    this.#counter.add(payer, -open.amountBaseUnits);
    payments.delete(nameIn(open.payment));
    if (payments.size === 0) this.#open.delete(payer);
  }

  #forgetOldest(): void {
    const keptSinceMs = performance.now() - KEPT_MS;
    for (const open of this.#kept) {
      if (this.#kept.size < MOST_KEPT && open.sinceMs >= keptSinceMs) return;
      this.#forget(open);
    }
  }
}

function keyOf({ terms, payment }: UnsentPayment): string {
  return ExposureCounter.keyOf({ asset: terms.asset, payer: payerOf(payment) });
}

/** Two payments may be signed with one nonce. */
function nameIn(payment: SignedPayment): string {
  return `${nonceOf(payment)} ${signedAmountOf(payment)}`;
}
