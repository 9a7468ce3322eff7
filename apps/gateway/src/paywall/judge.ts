import {
  NoReplyError,
  QueueFullError,
  VERIFY_PAYMENT,
  type RequestReplyClient,
  type VerifyPaymentRequest,
  type VerifyPaymentVerdict,
} from '@tollgate/common';
import { createOwner, LedgerUnavailableError, type Ledger } from '@tollgate/ledger';
import type { Hex } from '@tollgate/protocol';

import { clientNetwork } from '../server/client-network.js';
import { retryKeyOf, type Purchase } from './purchase.js';

export interface JudgeSettings {
  readonly network: string;
  readonly chainId: number;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly verifyDeadlineMs: number;
  readonly verifyRetryMs: number;
  readonly leaseMs: number;
}

export interface Caller {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly fingerprint: string;
}

/** Finds out whether a purchase is paid: from the ledger where it was answered before, otherwise from a verifier. */
export class Judge {
  constructor(
    private readonly ledger: Ledger,
    private readonly verifier: Pick<RequestReplyClient, 'ask'>,
    private readonly settings: JudgeSettings,
  ) {}

  /** Never throws: what cannot be found out is `unavailable`. */
  async judge(purchase: Purchase, caller: Caller): Promise<VerifyPaymentVerdict> {
    try {
      return (await this.#find(purchase, caller)) ?? (await this.#ask(purchase, caller));
    } catch (error) {
      return { outcome: 'unavailable', reason: reasonOf(error) };
    }
  }

  async #find(purchase: Purchase, { fingerprint }: Caller): Promise<VerifyPaymentVerdict | null> {
    const retryKey = retryKeyOf(purchase);
    if (retryKey === null) return null;
    const { chainId } = this.settings;
    const found = await this.ledger.find({ chainId, txHash: keyHash(purchase), fingerprint, retryKey });
    return found.outcome === 'none' ? null : found;
  }

  async #ask(purchase: Purchase, caller: Caller): Promise<VerifyPaymentVerdict> {
    const { verifyDeadlineMs: timeoutMs, verifyRetryMs: retryAfterMs } = this.settings;
    const request = this.#createRequest(purchase, caller);
    try {
      return await this.verifier.ask<VerifyPaymentVerdict, VerifyPaymentRequest>(VERIFY_PAYMENT, request, {
        timeoutMs,
        retryAfterMs,
        requestId: caller.requestId,
      });
    } catch (error) {
      if (!(error instanceof QueueFullError)) await this.#giveUp(request);
      throw error;
    }
  }

  /** A verifier may have claimed the payment and its reply was lost: nobody will use that claim. */
  async #giveUp({ chainId, txHash, owner }: VerifyPaymentRequest): Promise<void> {
    // The claim's own deadline and the end of its lease do the same, later.
    await this.ledger.releaseOwner({ chainId, txHash }, owner).catch(() => undefined);
  }

  #createRequest(purchase: Purchase, { requestId, clientAddress, fingerprint }: Caller): VerifyPaymentRequest {
    const { network, chainId, asset, payTo, verifyDeadlineMs, leaseMs } = this.settings;
    const { reference, proof, endpoint, retryKey } = purchase;
    return {
      requestId,
      owner: createOwner(),
      deadlineMs: this.ledger.nowMs() + verifyDeadlineMs,
      network,
      chainId,
      asset,
      payTo,
      priceBaseUnits: endpoint.route.priceBaseUnits.toString(),
      txHash: keyHash(purchase),
      ...(reference === null
        ? {}
        : { reference: { ...reference, priceBaseUnits: reference.priceBaseUnits.toString() } }),
      ...(proof.payload.signature === undefined ? {} : { signature: proof.payload.signature }),
      fingerprint,
      retryKey,
      leaseMs,
      clientAddress: clientNetwork(clientAddress),
    };
  }
}

function keyHash({ proof }: Purchase): Hex {
  return proof.payload.txHash.toLowerCase() as Hex;
}

function reasonOf(error: unknown): string {
  if (error instanceof QueueFullError || error instanceof NoReplyError) return error.code;
  if (error instanceof LedgerUnavailableError) return 'ledger_unavailable';
  return error instanceof Error ? error.message : String(error);
}
