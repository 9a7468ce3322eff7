import { isAddress, lowerHex, ownField, PaymentError, type Hex } from '@tollgate/protocol';

import { isPermitUsed } from '../../account/permit-signer.js';
import type { PayingMethod, SignedRequirement } from '../paying-method.js';
import { ensureAllowance, findAllowanceProblem, type AllowanceOptions } from './allowance.js';

/** Paid by Permit2. Under `upto` the amount is a maximum, and only the given facilitator may settle it. */
export type PermittableRequirement = SignedRequirement &
  (
    | { scheme: 'exact'; extra: { name: string | null; assetTransferMethod: 'permit2' } }
    | { scheme: 'upto'; extra: { name: string | null; assetTransferMethod: 'permit2'; facilitatorAddress: Hex } }
  );

export const payByPermit2: PayingMethod<'permit2', PermittableRequirement, AllowanceOptions> = {
  kind: 'permit2',
  pays: 'offers of "exact" and "upto" by Permit2',
  signer: 'permits',
  allowance: { option: 'permit2Allowance', failure: 'permit2_allowance_missing' },
  read(terms, { scheme, assetName: name, extra }) {
    const assetTransferMethod = 'permit2';
    if (scheme !== 'upto') return { ...terms, scheme: 'exact', extra: { name, assetTransferMethod } };
    const facilitator = ownField(extra, 'facilitatorAddress');
    if (!isAddress(facilitator)) return 'does not name the facilitator that may settle it';
    return { ...terms, scheme, extra: { name, assetTransferMethod, facilitatorAddress: lowerHex(facilitator) } };
  },
  // Wallets without permits skip these offers.
  findProblem: async ({ wallet, permit2Allowance }, chosen) =>
    wallet.permits ? findAllowanceProblem(permit2Allowance, wallet.permits, chosen) : null,
  async prepare(context, chosen, signal) {
    const { permits } = context.wallet;
    if (!permits) throw createNoSigner();
    await ensureAllowance(context, permits, chosen, signal);
  },
  async sign({ permits }, payment) {
    if (!permits) throw createNoSigner();
    return permits.sign(payment);
  },
  isExpired: ({ permits }, _asset, payment) => permits?.isExpired(payment),
  isUsed: isPermitUsed,
};

function createNoSigner(): PaymentError {
  return new PaymentError('cannot_pay', 'The wallet cannot sign permits.');
}
