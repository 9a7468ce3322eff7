import { type PayerSignature, readPayerSignature, splitSignature } from '@tollgate/chain';
import type { SettleSignedPaymentRequest } from '@tollgate/common';
import { hashTransferAuthorization, type Hex, type SignedAuthorization } from '@tollgate/protocol';

import type { AcceptedAssets } from '../verification/signed/accepted-assets.js';
import type { SettlementEntry } from './settlement-entry.js';

export interface EntryTerms {
  assets: AcceptedAssets;
  /** Contracts that may be called to deploy a payer's wallet (EIP-6492), in lower case. */
  factories: ReadonlySet<Hex>;
}

/**
 * The payment in the form in which it is settled; null when gateway and verifier have different settings. `isAccount`:
 * takes a signature of an account's form as one without recovering its signer, the most expensive step here. Whether
 * the payer has code, which then decides on the signature, is checked before the payment shares a transaction.
 * @throws PaymentRefused for an asset that is not accepted
 */
export async function createEntry(
  { terms, amountBaseUnits }: SettleSignedPaymentRequest,
  { authorization, signature }: SignedAuthorization,
  { assets, factories }: EntryTerms,
  { isAccount }: { isAccount: boolean },
): Promise<SettlementEntry | null> {
  const domainSeparator = assets.findDomain(terms);
  if (domainSeparator === null) return null;
  const readSignature = (): Promise<PayerSignature> => {
    const hash = hashTransferAuthorization(authorization, domainSeparator);
    return readPayerSignature(signature, { hash, payer: authorization.from, factories });
  };
  return {
    asset: terms.asset,
    payTo: terms.payTo,
    amountBaseUnits,
    authorization,
    signature: (isAccount ? splitSignature(signature) : null) ?? (await readSignature()),
  };
}
