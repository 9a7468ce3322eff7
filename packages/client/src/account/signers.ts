import type { Hex } from '@tollgate/protocol';
import type { LocalAccount, PublicClient } from 'viem';

import { createAuthorizationSigner, type AuthorizationSigner } from './authorization-signer.js';
import { createPermitSigner, readPermitAllowance, type PermitSigner } from './permit-signer.js';
import { readTokenDomain } from './read-token-domain.js';

export type { AuthorizationSigner, PermitSigner };
export type { SignedToken } from './authorization-signer.js';

/** The parts of a wallet that sign, one a method. */
export interface WalletSigners {
  /** Without it, offers that require a signed EIP-3009 authorization are not paid. */
  readonly authorizations?: AuthorizationSigner;
  /** Without it, offers that a permit pays, including those that charge by use, are not paid. */
  readonly permits?: PermitSigner;
}

/** What of them is read before an offer is chosen. */
export interface WalletReads {
  readonly authorizations?: Pick<AuthorizationSigner, 'readDomain'>;
  readonly permits?: Pick<PermitSigner, 'readAllowance'>;
}

/** The reads of an account that signs elsewhere. They throw what the client throws. */
export function createReads(
  owner: Hex,
  client: PublicClient,
  chainId: number,
): Required<Pick<WalletReads, 'authorizations' | 'permits'>> {
  return {
    authorizations: { readDomain: (asset) => readTokenDomain(client, chainId, asset) },
    permits: { readAllowance: (asset) => readPermitAllowance(client, owner, asset) },
  };
}

/** @param state asks nodes that have the account's last transaction */
export function createSigners(
  account: LocalAccount,
  { chain, state }: { chain: PublicClient; state: PublicClient },
  chainId: number,
): Required<Pick<WalletSigners, 'authorizations' | 'permits'>> {
  return {
    authorizations: createAuthorizationSigner(account, chain, chainId),
    permits: createPermitSigner(account, state, chainId),
  };
}
