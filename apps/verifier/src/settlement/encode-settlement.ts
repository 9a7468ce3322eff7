import type { Hex } from '@tollgate/protocol';

import { encodeAccountAuthorization, encodeContractAuthorization, isAccountSignature } from './encode-authorization.js';
import type { SettlementEntry } from './settlement-entry.js';

/** A call as it is sent: what a settlement is on the chain. */
export interface SettlementCall {
  to: Hex;
  data: Hex;
}

/** What settles one payment by itself. `isContract`: its payer has code, so the token shall ask the payer. */
export function encodeSettlement({ asset, payment }: SettlementEntry, isContract: boolean): SettlementCall {
  const { authorization, signature } = payment;
  const data =
    isContract || !isAccountSignature(signature)
      ? encodeContractAuthorization(authorization, signature)
      : encodeAccountAuthorization(authorization, signature);
  return { to: asset, data };
}
