import { PaymentError } from '@tollgate/protocol';

import { isAuthorizationUsed } from '../../account/authorization-signer.js';
import type { PayingMethod, SignedRequirement } from '../paying-method.js';

/** Paid by an EIP-3009 authorization. */
export interface AuthorizableRequirement extends SignedRequirement {
  scheme: 'exact';
  /** The token's EIP-712 domain, as given by the server. */
  extra: { name: string; version: string };
}

export const payByEip3009: PayingMethod<'authorization', AuthorizableRequirement> = {
  kind: 'authorization',
  pays: 'offers of x402 of scheme "exact" by EIP-3009 that contain the EIP-712 domain of their asset',
  signer: 'authorizations',
  read(terms, { assetName: name, assetVersion: version }) {
    if (name === null || version === null) return 'has no EIP-712 domain of its asset';
    return { ...terms, scheme: 'exact', extra: { name, version } };
  },
  async sign({ authorizations }, { token, authorization }) {
    if (!authorizations) throw new PaymentError('cannot_pay', 'The wallet cannot sign authorizations.');
    return authorizations.sign(token, authorization);
  },
  isExpired: ({ authorizations }, asset, { authorization }) => authorizations?.isExpired(asset, authorization),
  isUsed: (client, { token, authorization }, block) => isAuthorizationUsed(client, token.asset, authorization, block),
};
