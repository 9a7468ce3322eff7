import type { SignedAuthorization } from '@tollgate/protocol';

import type { ChosenRequirement } from '../offer/choose-requirement.js';
import type { AuthorizableRequirement } from '../offer/signable-requirement.js';
import type { AuthorizationSigner } from './authorization-signer.js';
import { createRandomHex } from './random-hex.js';
import { createValidity } from './validity.js';
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
