import type { SignedPaymentTerms } from '@tollgate/common';
import type { ClaimResult } from '@tollgate/ledger';
import type { SignedAuthorization } from '@tollgate/protocol';

import type { ChainReader } from '../../chain/chain-reader.js';

/** An authorization that nobody has sent, in the terms it was judged by. */
export interface UnsentPayment {
  terms: SignedPaymentTerms;
  payment: SignedAuthorization;
}

export interface OpenPaymentsOptions {
  chain: Pick<ChainReader, 'readMeans'>;
  /** Whether a request holds it, or a relayer has it in a job. */
  mayStillMove: (unsent: UnsentPayment) => Promise<boolean>;
}

interface Open extends UnsentPayment {
  amountBaseUnits: bigint;
  /** How often it is being claimed now. */
  claiming: number;
  isClaimed: boolean;
  sinceMs: number;
}

/** Of one payer in one token. */
interface Tab {
  openBaseUnits: bigint;
  /** Those that were looked up longest ago first. */
  readonly payments: Map<string, Open>;
}

/** How many are looked up to find room for one more. */
const LOOKED_UP = 16;
/** What is older, or beyond so many, is not counted any more: that it takes too much shows when it is settled. */
const KEPT_MS = 300_000;
const MOST_KEPT = 20_000;

/**
 * Authorizations that were claimed in this process and may still be moved. Each is good by itself; of those that are
 * signed over one balance, all but the first would have their resource made for nothing.
 */
export class OpenPayments {
  readonly #tabs = new Map<string, Tab>();
  /** Of all payers, the oldest first. */
  readonly #kept = new Set<Open>();

  constructor(private readonly options: OpenPaymentsOptions) {}

  /**
   * Claims a payment if its payer, who had so much when it was judged, has enough for it beside his open ones.
   * `payer_busy`: too many of those are open to tell now, or it may itself be moved, or has just been.
   * @throws ChainUnavailableError, LedgerError, JournalError
   */
  async claim(
    unsent: UnsentPayment,
    { balanceBaseUnits, deadlineMs }: { balanceBaseUnits: bigint; deadlineMs: number },
    claim: () => Promise<ClaimResult>,
  ): Promise<ClaimResult | 'balance_too_low' | 'payer_busy'> {
    const open = this.#open(unsent, balanceBaseUnits) ?? (await this.#openBesideOthers(unsent, deadlineMs));
    if (typeof open === 'string') return open;
    try {
      const result = await claim();
      if (result.outcome === 'claimed') open.isClaimed = true;
      return result;
    } finally {
      open.claiming--;
      if (open.claiming === 0 && !open.isClaimed) this.#forget(open);
    }
  }

  /** Null: the payer has not enough. What is asked about again is open already. */
  #open({ terms, payment }: UnsentPayment, balanceBaseUnits: bigint): Open | null {
    this.#forgetOldest();
    const tab = this.#tabs.get(nameTab({ terms, payment })) ?? { openBaseUnits: 0n, payments: new Map<string, Open>() };
    const known = tab.payments.get(nameIn(payment));
    if (known) {
      known.claiming++;
      return known;
    }
    const amountBaseUnits = BigInt(payment.authorization.value);
    if (tab.openBaseUnits + amountBaseUnits > balanceBaseUnits) return null;
    const open: Open = { terms, payment, amountBaseUnits, claiming: 1, isClaimed: false, sinceMs: performance.now() };
    tab.openBaseUnits += amountBaseUnits;
    tab.payments.set(nameIn(payment), open);
    this.#tabs.set(nameTab(open), tab);
    this.#kept.add(open);
    return open;
  }

  async #openBesideOthers(unsent: UnsentPayment, deadlineMs: number): Promise<Open | 'balance_too_low' | 'payer_busy'> {
    const payments = this.#tabs.get(nameTab(unsent))?.payments ?? new Map<string, Open>();
    const isAll = payments.size <= LOOKED_UP;
    const looked = [...payments.values()].slice(0, LOOKED_UP);
    for (const open of looked) {
      payments.delete(nameIn(open.payment));
      payments.set(nameIn(open.payment), open);
    }
    const { asset } = unsent.terms;
    const { from: payer } = unsent.payment.authorization;
    // Itself first: what no job has any more was moved before its nonce is read, and must not be told to be paid again.
    if (await this.options.mayStillMove(unsent)) return 'payer_busy';
    const nonces = [unsent, ...looked].map(({ payment }) => payment.authorization.nonce);
    const means = await this.options.chain.readMeans({ asset, payer, nonces }, deadlineMs);
    const { balanceBaseUnits } = means;
    const [isTaken, ...areTaken] = means.areTaken;
    if (isTaken === true) return 'payer_busy';
    await Promise.all(
      looked.map(async (open, index) => {
        const mayStillMove = areTaken[index] !== true && (await this.options.mayStillMove(open));
        // One that is being claimed is held by nobody yet.
        if (!mayStillMove && open.claiming === 0) this.#forget(open);
      }),
    );
    return this.#open(unsent, balanceBaseUnits) ?? (isAll ? 'balance_too_low' : 'payer_busy');
  }

  #forget(open: Open): void {
    const tab = this.#tabs.get(nameTab(open));
    if (!this.#kept.delete(open) || !tab) return;
    tab.openBaseUnits -= open.amountBaseUnits;
    tab.payments.delete(nameIn(open.payment));
    if (tab.payments.size === 0) this.#tabs.delete(nameTab(open));
  }

  #forgetOldest(): void {
    const keptSinceMs = performance.now() - KEPT_MS;
    for (const open of this.#kept) {
      if (this.#kept.size < MOST_KEPT && open.sinceMs >= keptSinceMs) return;
      this.#forget(open);
    }
  }
}

function nameTab({ terms, payment }: UnsentPayment): string {
  return `${terms.asset} ${payment.authorization.from}`;
}

/** Two may be signed under one nonce. */
function nameIn({ authorization }: SignedAuthorization): string {
  return `${authorization.nonce} ${authorization.value}`;
}
