import type { RpcResult } from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';

/** An RPC server's reply to signed bytes. `unanswered`: it may or may not have them. */
export type SendReply = RpcResult | { kind: 'unanswered'; why: string };

/**
 * What the reply says. `accepted`: it has them. `unknown`: it may have them, so the same bytes are
 * sent again. `refused`: it will never accept these bytes.
 */
export type SendAnswer = 'accepted' | 'nonce_used' | 'insufficient_funds' | 'underpriced' | 'unknown' | 'refused';

/** Tried in this order; the texts are those of the common nodes. An error that is not listed decides nothing. */
const MESSAGES: readonly (readonly [RegExp, SendAnswer])[] = [
  [/already known|already imported|already exists|known transaction|alreadyknown/i, 'accepted'],
  [/nonce (is )?too low|oldnonce|nonce already (used|been used)/i, 'nonce_used'],
  [
    /insufficient (funds|balance)|insufficientfunds|exceeds (account )?balance|upfront cost exceeds/i,
    'insufficient_funds',
  ],
  [
    /underpriced|less than block base fee|fee ?too ?low|gas price (too low|below)|insufficient fee|replacementnotallowed/i,
    'underpriced',
  ],
  [
    /intrinsic gas|floor data gas|exceeds (the )?(block )?gas limit|exceeds block max gas|gas limit (is )?too (high|low)|gaslimitexceeded|gas limit exceeds|oversized data|initcode size|higher than (the )?(fee cap|max fee)|type not supported|exceeds the configured cap|invalid (sender|signature|chain ?id)|nonce has max value/i,
    'refused',
  ],
];

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
      return MESSAGES.find(([words]) => words.test(answer.message))?.[1] ?? 'unknown';
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
