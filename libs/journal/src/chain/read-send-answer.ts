import type { RpcResult } from '@tollgate/chain';
import { readSendRefusal, type Hex } from '@tollgate/protocol';

/** An RPC server's reply to signed bytes. `unanswered`: it may or may not have them. */
export type SendReply = RpcResult | { kind: 'unanswered'; error: Error };

/**
 * What the reply says. `accepted`: it has them. `unknown`: it may have them, so the same bytes are
 * sent again. `refused`: it will never accept these bytes.
 */
export type SendAnswer = 'accepted' | 'nonce_used' | 'insufficient_funds' | 'underpriced' | 'unknown' | 'refused';

/** The only place that interprets an answer to `eth_sendRawTransaction`. */
export function readSendAnswer(answer: SendReply, hash: Hex): SendAnswer {
  switch (answer.kind) {
    case 'unanswered':
    case 'missing':
      return 'unknown';
    case 'result':
      // A hash other than that of the bytes: the answer says nothing about these bytes.
      return typeof answer.value === 'string' && answer.value.toLowerCase() === hash ? 'accepted' : 'unknown';
    case 'error':
      return readError(answer.message);
  }
}

function readError(message: string): SendAnswer {
  const refusal = readSendRefusal(message);
  switch (refusal) {
    case 'known':
      return 'accepted';
    case 'nonce_used':
    case 'insufficient_funds':
    case 'underpriced':
      return refusal;
    case 'fee_below_base':
    case 'replacement':
      return 'underpriced';
    case 'invalid':
      return 'refused';
    // The node takes these bytes once the transaction before them is mined.
    case 'in_flight':
    case null:
      return 'unknown';
  }
}

/** One server that has the bytes is enough; all must refuse them before they are given up. */
const PRECEDENCE: readonly SendAnswer[] = [
  'accepted',
  'nonce_used',
  'insufficient_funds',
  'underpriced',
  'unknown',
  'refused',
];

/** Combines the answers of several servers to the same bytes. */
export function joinSendAnswers(answers: readonly SendAnswer[]): SendAnswer {
  return PRECEDENCE.find((answer) => answers.includes(answer)) ?? 'unknown';
}
