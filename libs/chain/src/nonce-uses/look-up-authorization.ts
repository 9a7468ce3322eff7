import type { ChainReader } from '../reader/chain-reader.js';
import { findAuthorizationUse, type AuthorizationLookUp, type AuthorizationUse } from './find-authorization-use.js';

/** What the chain shows of an authorization's nonce, whichever sender used it. */
export type AuthorizationSighting = { outcome: 'unused' } | AuthorizationUse;

/**
 * Reads whether an authorization's nonce is taken and, if so, by which transaction.
 * @throws ChainUnavailableError
 */
export async function lookUpAuthorization(
  reader: ChainReader,
  lookUp: AuthorizationLookUp,
): Promise<AuthorizationSighting> {
  const { asset, authorization } = lookUp.promised;
  const { isTaken, headBlockNumber } = await reader.readNonce(
    { asset, payer: authorization.from, nonce: authorization.nonce },
    lookUp.deadlineMs,
  );
  return isTaken ? findAuthorizationUse(reader, lookUp, headBlockNumber) : { outcome: 'unused' };
}
