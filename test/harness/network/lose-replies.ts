import type { Random } from '../random.js';
import type { Interception, RpcCall } from './rpc-proxy.js';

/**
 * Of the requests that send a transaction, a quarter are carried out and their reply is lost, a quarter are refused with
 * 429; of all others every twentieth is refused.
 */
export function loseReplies(random: Random): Interception {
  return async (call, forward) => {
    const fate = random.below(20);
    const isSend = JSON.stringify(call).includes('eth_sendRawTransaction');
    if (isSend ? fate < 5 : fate === 0) return { status: 429, body: 'too many requests' };
    const body = await forward();
    return isSend && fate < 10 ? 'broken' : { body };
  };
}

/**
 * Also refuses a tenth of the sends for now, with a JSON-RPC error and HTTP 400, and is at times behind: then it has no
 * receipts.
 */
export function misbehave(random: Random): Interception {
  const lose = loseReplies(random);
  return async (call, forward) => {
    const fate = random.below(20);
    const asked = [call as RpcCall & { id: number }].flat();
    const shape = (answers: readonly object[]) => JSON.stringify(Array.isArray(call) ? answers : answers[0]);
    if (fate < 2 && asked.some(({ method }) => method === 'eth_sendRawTransaction')) {
      const error = { code: -32000, message: 'the server is busy, send it later' };
      return { status: 400, body: shape(asked.map(({ id }) => ({ jsonrpc: '2.0', id, error }))) };
    }
    const reply = await lose(call, forward);
    if (fate > 2 || typeof reply !== 'object' || reply.status !== undefined) return reply;
    const answers = [JSON.parse(reply.body) as { id: number }].flat();
    const receipts = new Set(asked.flatMap(({ id, method }) => (method === 'eth_getTransactionReceipt' ? [id] : [])));
    return { body: shape(answers.map((answer) => (receipts.has(answer.id) ? { ...answer, result: null } : answer))) };
  };
}
