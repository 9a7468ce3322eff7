import {
  QueueFullError,
  VERIFY_PAYMENT,
  type PaymentTrial,
  type SignedPaymentTerms,
  type SignedPaymentVerdict,
  type VerifyPaymentRequest,
  type VerifyPaymentVerdict,
} from '@tollgate/common';
import { createOwner, signedPaymentId, type EntryId, type Lease, type Ledger } from '@tollgate/ledger';
import type { Hex, SignedPayment } from '@tollgate/protocol';

import { clientNetwork } from '../server/client-network.js';
import { reasonOf, type SignedPaymentQuestion, type SignedPayments } from '../signed-payments/signed-payments.js';
import type { Verifiers } from '../verifiers/agreeing-verifiers.js';
import type { PaymentIdentifiers } from './payment-identifiers.js';
import type { TransactionInstrument } from './presented-payment.js';
import { retryKeyOf, type Purchase } from './purchase.js';

export interface JudgeSettings {
  readonly network: string;
  readonly chainId: number;
  readonly asset: Hex;
  /** The token's EIP-712 domain. */
  readonly assetName: string;
  readonly assetVersion: string;
  readonly payTo: Hex;
  readonly verifyDeadlineMs: number;
  readonly verifyRetryMs: number;
  readonly leaseMs: number;
}

export interface JudgeParts {
  readonly ledger: Ledger;
  readonly verifier: Verifiers;
  readonly signedPayments: SignedPayments;
  readonly identifiers: PaymentIdentifiers;
}

export interface Caller {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly fingerprint: string;
}

/** A payment claimed for this request. */
export interface Claim {
  readonly lease: Lease;
  readonly payer: Hex;
  /** Null for a signed payment that has yet to be settled. */
  readonly txHash: Hex | null;
  /** The amount that transaction transferred, where it may be less than the price. */
  readonly amountBaseUnits?: string;
  /** The result of the simulated settlement at the time of the claim. */
  readonly trial?: PaymentTrial;
  /** An earlier request already used the payer's identifier for this payment, and may have settled it. */
  readonly isNamedBefore?: boolean;
}

export type Verdict =
  /** The payer already used this payment identifier for another payment. */
  | { readonly outcome: 'identifier_reused' }
  | ({ readonly outcome: 'claimed' } & Claim)
  | Exclude<VerifyPaymentVerdict | SignedPaymentVerdict, { outcome: 'claimed' | 'valid' }>;

/** Decides whether a purchase is paid: from the ledger if it was answered before, otherwise by asking a verifier. */
export class Judge {
  constructor(
    private readonly parts: JudgeParts,
    private readonly settings: JudgeSettings,
  ) {}

  /** Never throws: what cannot be decided is `unavailable`. */
  async judge(purchase: Purchase, caller: Caller): Promise<Verdict> {
    try {
      return (await this.#find(purchase, caller)) ?? (await this.#ask(purchase, caller));
    } catch (error) {
      return { outcome: 'unavailable', reason: reasonOf(error) };
    }
  }

  /** The question about a signed payment that is sent to the verifier or settler. */
  questionOf(purchase: Purchase, payment: SignedPayment, caller: Caller): SignedPaymentQuestion {
    const { requestId, clientAddress } = caller;
    return { requestId, clientAddress, payment, terms: this.#termsOf(purchase) };
  }

  async #find(purchase: Purchase, { fingerprint }: Caller): Promise<Verdict | null> {
    const retryKey = retryKeyOf(purchase);
    if (retryKey === null) return null;
    const found = await this.parts.ledger.find({ ...this.#entryOf(purchase), fingerprint, retryKey });
    return found.outcome === 'none' ? null : found;
  }

  #ask(purchase: Purchase, caller: Caller): Promise<Verdict> {
    const { instrument } = purchase;
    return instrument.kind === 'transaction'
      ? this.#askTransaction(purchase, instrument, caller)
      : this.#askSigned(purchase, instrument, caller);
  }

  async #askSigned(purchase: Purchase, payment: SignedPayment, caller: Caller): Promise<Verdict> {
    const { fingerprint } = caller;
    const question = this.questionOf(purchase, payment, caller);
    const verdict = await this.parts.signedPayments.claim(question, { fingerprint, retryKey: retryKeyOf(purchase) });
    if (verdict.outcome === 'valid') return { outcome: 'unavailable', reason: 'not_claimed' };
    if (verdict.outcome !== 'claimed' || purchase.paymentIdentifier === null) return verdict;
    const named = await this.#takeIdentifier(purchase.paymentIdentifier, verdict);
    return named === 'another' ? { outcome: 'identifier_reused' } : { ...verdict, isNamedBefore: named === 'before' };
  }

  /**
   * The payment is claimed first, so that an identifier cannot be taken with a payment that belongs to someone else.
   */
  async #takeIdentifier(identifier: string, { lease, payer }: Claim): Promise<'anew' | 'before' | 'another'> {
    let named: 'anew' | 'before' | 'another' = 'another';
    try {
      named = await this.parts.identifiers.take({ payer, identifier, lease });
      return named;
    } finally {
      if (named === 'another') await this.parts.ledger.release(lease, { counted: false }).catch(() => false);
    }
  }

  async #askTransaction(purchase: Purchase, instrument: TransactionInstrument, caller: Caller): Promise<Verdict> {
    const { verifyDeadlineMs: timeoutMs, verifyRetryMs: retryAfterMs } = this.settings;
    const request = this.#createRequest(purchase, instrument, caller);
    try {
      const verdict = await this.parts.verifier.ask(VERIFY_PAYMENT, request, {
        ...{ timeoutMs, retryAfterMs },
        requestId: caller.requestId,
      });
      return verdict.outcome === 'claimed' ? { ...verdict, txHash: instrument.txHash } : verdict;
    } catch (error) {
      if (!(error instanceof QueueFullError)) await this.#giveUp(request);
      throw error;
    }
  }

  /** Releases the claim of a verifier whose reply was lost: no request would use it. */
  async #giveUp({ chainId, txHash, owner }: VerifyPaymentRequest): Promise<void> {
    // If this fails, the claim's deadline and the end of its lease release it later.
    await this.parts.ledger.releaseOwner({ chainId, txHash }, owner).catch(() => undefined);
  }

  #createRequest(
    purchase: Purchase,
    instrument: TransactionInstrument,
    { requestId, clientAddress, fingerprint }: Caller,
  ): VerifyPaymentRequest {
    const { network, chainId, asset, payTo, verifyDeadlineMs, leaseMs } = this.settings;
    const { reference, endpoint, retryKey } = purchase;
    return {
      requestId,
      owner: createOwner(),
      deadlineMs: this.parts.ledger.nowMs() + verifyDeadlineMs,
      network,
      chainId,
      asset,
      payTo,
      priceBaseUnits: endpoint.route.priceBaseUnits.toString(),
      txHash: lowerCase(instrument.txHash),
      ...(reference === null
        ? {}
        : { reference: { ...reference, priceBaseUnits: reference.priceBaseUnits.toString() } }),
      ...(instrument.signature === undefined ? {} : { signature: instrument.signature }),
      fingerprint,
      retryKey,
      leaseMs,
      clientAddress: clientNetwork(clientAddress),
    };
  }

  /** The ledger's key for the payment. */
  #entryOf(purchase: Purchase): EntryId {
    const { instrument } = purchase;
    if (instrument.kind !== 'transaction') return signedPaymentId(this.#termsOf(purchase), instrument);
    return { chainId: this.settings.chainId, txHash: lowerCase(instrument.txHash) };
  }

  #termsOf({ priceBaseUnits }: Purchase): SignedPaymentTerms {
    const { chainId, asset, assetName, assetVersion, payTo } = this.settings;
    return {
      chainId,
      asset: lowerCase(asset),
      assetName,
      assetVersion,
      payTo: lowerCase(payTo),
      priceBaseUnits: priceBaseUnits.toString(),
    };
  }
}

function lowerCase(text: Hex): Hex {
  return text.toLowerCase() as Hex;
}
