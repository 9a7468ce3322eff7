import {
  EXACT_PROXY_ADDRESS,
  UPTO_PROXY_ADDRESS,
  type Permit2Transfer,
  type SignedAuthorization,
  type SignedPermit,
} from '@tollgate/protocol';

import type { ChosenRequirement } from '../offer/choose-requirement.js';
import type { AuthorizableRequirement, PermittableRequirement } from '../offer/signable-requirement.js';
import type { AuthorizationSigner } from './authorization-signer.js';
import { createRandomHex } from './hex.js';
import type { PermitSigner } from './permit-signer.js';
import type { Wallet } from './wallet.js';

/** Signs an authorization that pays the requirement. No tokens move until the server has it settled. */
export function signAuthorization(
  signer: AuthorizationSigner,
  { address: from }: Pick<Wallet, 'address'>,
  { requirement, asset, amountBaseUnits }: ChosenRequirement<AuthorizableRequirement>,
): Promise<SignedAuthorization> {
  return signer.sign(
    { asset: asset.address, ...requirement.extra },
    {
      from,
      to: requirement.payTo,
      value: String(amountBaseUnits),
      ...createValidity(requirement.maxTimeoutSeconds),
      nonce: `0x${createRandomHex(32)}`,
    },
  );
}

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

/** Allows for a clock ahead of the chain's, with which a signature would not be valid yet. */
const CLOCK_SLACK_SECONDS = 600;
/** The longest validity of a signature, whatever the server asks for: during it the money may still be taken. */
const LONGEST_SECONDS = 3600;

/** The validity of a signature made now, in Unix seconds as decimal text. */
function createValidity(maxTimeoutSeconds: number): { validAfter: string; validBefore: string } {
  const nowSeconds = Math.floor(Date.now() / 1000);
  return {
    validAfter: String(nowSeconds - CLOCK_SLACK_SECONDS),
    validBefore: String(nowSeconds + Math.min(maxTimeoutSeconds, LONGEST_SECONDS)),
  };
}
