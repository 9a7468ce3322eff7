import { readSendRefusal, type SendRefusal } from '@tollgate/protocol';
import { BaseError, type PublicClient } from 'viem';

import { findRefusal, isUnanswered } from '../network/rpc-failure.js';
import type { SignedTransaction } from './signed-transaction.js';

/**
 * What RPC servers said of signed bytes. `unknown`: one of them may have the bytes. `refused`: each that was asked has
 * answered that it does not take them; `refusal` is null where its words are not known.
 */
export type BytesAnswer =
  | { kind: 'accepted' }
  | { kind: 'unknown'; error: unknown }
  | { kind: 'refused'; refusal: SendRefusal | null; error: BaseError };

/** Sends bytes to one server after the other until one accepts them; each is asked once. */
export async function sendBytes(
  servers: readonly PublicClient[],
  { rawTransaction, txHash }: Pick<SignedTransaction, 'rawTransaction' | 'txHash'>,
): Promise<BytesAnswer> {
  let doubt: BytesAnswer | null = null;
  let refused: BytesAnswer | null = null;
  for (const server of servers) {
    try {
      const hash: unknown = await server.sendRawTransaction({ serializedTransaction: rawTransaction });
      // Another answer says nothing about these bytes.
      if (typeof hash === 'string' && hash.toLowerCase() === txHash) return { kind: 'accepted' };
      doubt = { kind: 'unknown', error: new Error('The answer is not the hash of the transaction.') };
    } catch (error) {
      if (!(error instanceof BaseError)) throw error;
      const answered = isUnanswered(error) ? null : findRefusal(error);
      const refusal = answered && readSendRefusal(answered.details);
      if (refusal === 'known') return { kind: 'accepted' };
      // The bytes themselves may have used the nonce: an answer was lost, or a server has sent them on twice.
      if (answered === null || refusal === 'nonce_used') doubt = { kind: 'unknown', error };
      else refused = { kind: 'refused', refusal, error };
    }
  }
  return doubt ?? refused ?? { kind: 'unknown', error: new Error('There is no RPC server.') };
}
