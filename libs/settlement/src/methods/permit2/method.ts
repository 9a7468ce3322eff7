import { NO_FACTORIES, planPermitTransfer, PROXIES, readPayerSignature, unwrapSignature } from '@tollgate/chain';
import type { JsonValue } from '@tollgate/journal';
import { hashPermit2Domain, hashPermit2Transfer, type Hex, type SignedPermit } from '@tollgate/protocol';
import { parseMessage, signedPayment } from '@tollgate/schemas';
import { z } from 'zod';

import { moved } from '../../payment-entry.js';
import type { SettlementMethod } from '../settlement-method.js';

export const permit2Settlement: SettlementMethod<SignedPermit, SignedPermit> = {
  kind: 'permit2',
  // Under scheme `upto` only the account that the payer named can send it, whichever process works on that account.
  isSimulatedBySender: true,
  isProvenBySuccess: true,
  operation: 'settle-permit',

  findMismatch({ scheme, permit2Authorization: { permitted, spender, witness } }, { asset, payTo }, amount) {
    const most = BigInt(permitted.amount);
    if (permitted.token !== asset) return 'asset_mismatch';
    if (spender !== PROXIES[scheme]) return 'spender_mismatch';
    if (witness.to !== payTo) return 'recipient_mismatch';
    const isFit = scheme === 'upto' ? amount > 0n && amount <= most : amount === most;
    return isFit ? null : 'amount_mismatch';
  },
  // A permit is settled once, whatever amount is moved.
  describe({ kind, scheme, permit2Authorization }, { payTo }) {
    return [payTo, kind, scheme, JSON.stringify(permit2Authorization)];
  },
  readPayment: ({ payment }) => payment,
  isShareable: () => false,
  deploymentOf: () => null,
  planCall({ payment, amountBaseUnits }, { chainId }) {
    return planPermitTransfer({ ...payment, signature: toPermit2(payment, chainId) }, BigInt(amountBaseUnits));
  },
  explainFree: () => Promise.resolve(null),
  encodeJob([entry]) {
    if (entry === undefined) throw new Error('a job settles one permit');
    const { payment, amountBaseUnits, forOther } = entry;
    const input: z.output<typeof job> = { payment, amountBaseUnits, ...(forOther && { forOther }) };
    return input as unknown as JsonValue;
  },
  parseJob(input) {
    const { payment, ...entry } = parseMessage(job, input);
    const { from: payer, permitted, witness } = payment.permit2Authorization;
    return [{ ...entry, asset: permitted.token, payTo: witness.to, payer, payment }];
  },
};

/**
 * The signature in the form that was simulated: some wallets wrap what Permit2 accepts (EIP-6492), some accounts write
 * the bare recovery bit.
 */
function toPermit2(payment: SignedPermit, chainId: number): Hex {
  const { signature, permit2Authorization } = payment;
  const wrapped = unwrapSignature(signature);
  if (wrapped !== null) return wrapped.bytes;
  const last = signature.length === 2 + 2 * 65 ? Number.parseInt(signature.slice(-2), 16) : 27;
  if (last >= 2) return signature;
  // A contract's signature may end like this too, and its bytes are the contract's own.
  const hash = hashPermit2Transfer(payment, hashPermit2Domain(chainId));
  const signer = { hash, payer: permit2Authorization.from, factories: NO_FACTORIES };
  if (readPayerSignature(signature, signer).kind === 'contract') return signature;
  return `0x${signature.slice(2, -2)}${(last + 27).toString(16)}`;
}

/** The input of the job of one permit. */
const job = moved.extend({
  payment: signedPayment.transform((payment, { issues }) => {
    if (payment.kind === 'permit2') return payment;
    issues.push({ code: 'custom', input: payment });
    return z.NEVER;
  }),
});
