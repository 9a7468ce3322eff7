import { EXACT_PROXY_ADDRESS, UPTO_PROXY_ADDRESS, type Permit2Transfer, type SignedPermit } from '@tollgate/protocol';

import type { ChosenRequirement } from '../offer/choose-requirement.js';
import type { PermittableRequirement } from '../offer/signable-requirement.js';
import type { PermitSigner } from './permit-signer.js';
import { createRandomHex } from './random-hex.js';
import { createValidity } from './validity.js';
import type { Wallet } from './wallet.js';

/**
 * Signs a permit for the requirement's amount, or for its maximum if it charges by use. No tokens move until the server
 * has it settled.
 */
export function signPermit(
  signer: PermitSigner,
  { address: from }: Pick<Wallet, 'address'>,
  { requirement, amountBaseUnits }: Omit<ChosenRequirement<PermittableRequirement>, 'asset'>,
): Promise<SignedPermit> {
  const { validAfter, validBefore: deadline } = createValidity(requirement.maxTimeoutSeconds);
  const nonce = BigInt(`0x${createRandomHex(32)}`).toString();
  const permit = { from, permitted: { token: requirement.asset, amount: String(amountBaseUnits) }, nonce, deadline };
  const witness = { to: requirement.payTo, validAfter };
  // Settlement goes through one of these contracts, which pay only the recipient in the witness.
  const transfer: Permit2Transfer =
    requirement.scheme === 'exact'
      ? { scheme: 'exact', permit2Authorization: { ...permit, spender: EXACT_PROXY_ADDRESS, witness } }
      : {
          scheme: 'upto',
          permit2Authorization: {
            ...permit,
            spender: UPTO_PROXY_ADDRESS,
            witness: { ...witness, facilitator: requirement.extra.facilitatorAddress },
          },
        };
  return signer.sign(transfer);
}
