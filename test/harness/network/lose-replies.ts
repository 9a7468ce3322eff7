import type { Random } from '../random.js';
import type { Interception } from './rpc-proxy.js';

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
