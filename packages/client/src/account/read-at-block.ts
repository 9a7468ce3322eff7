import { isUnknownBlock } from '@tollgate/protocol';
import { BaseError, numberToHex, type Transport } from 'viem';

import { NodeBehindError, readDetails } from '../network/rpc-failure.js';
import { sleep } from '../network/sleep.js';

/** How often something is looked up, and the time in between. */
export interface PollLimits {
  attempts: number;
  intervalMs: number;
}

/** Which parameter names the block, of the methods that read the chain's state or a block. */
const BLOCK_PARAMETERS: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBalance: 1,
  eth_getBlockByNumber: 0,
  eth_getCode: 1,
  eth_getStorageAt: 2,
  eth_getTransactionCount: 1,
  eth_simulateV1: 1,
};

/**
 * A transport whose reads of the latest state see a given block. The nodes behind one address differ, so they are asked
 * by the number of a block: a node that does not have it says so, and is asked again.
 * @param floor the least block; null while there is none, and reads are passed on as they are
 */
export function readFromBlock(transport: Transport, floor: () => bigint | null, patience: PollLimits): Transport {
  const following: Transport = (parameters) => {
    const { request, ...rest } = transport(parameters);
    const ask = request as (args: Question, options?: object) => Promise<unknown>;
    const askFrom = async (question: Question, options?: object): Promise<unknown> => {
      const least = floor();
      const index = BLOCK_PARAMETERS[question.method];
      const tag = index === undefined ? null : (question.params?.[index] ?? 'latest');
      if (least === null || index === undefined || tag !== 'latest') return ask(question, options);
      for (let attempt = 1; ; attempt += 1) {
        const head = BigInt((await ask({ method: 'eth_blockNumber', params: [] }, options)) as string);
        // The state may be behind the head; that of the least block is enough.
        for (const number of head > least ? [head, least] : [least]) {
          const found = await readAt(ask, question, { index, number, options });
          if (found !== null) return found.value;
        }
        if (attempt >= patience.attempts) throw new NodeBehindError(least);
        await sleep(patience.intervalMs, null);
      }
    };
    return { ...rest, request: askFrom as typeof request };
  };
  return following;
}

interface Question {
  method: string;
  params?: readonly unknown[];
}

/** Null: the node does not have the block. */
async function readAt(
  ask: (question: Question, options?: object) => Promise<unknown>,
  question: Question,
  { index, number, options }: { index: number; number: bigint; options: object | undefined },
): Promise<{ value: unknown } | null> {
  const { method, params = [] } = question;
  const at = (tag: string): Question => {
    const named = [...params];
    named[index] = tag;
    return { method, params: named };
  };
  try {
    const value = await ask(at(numberToHex(number)), options);
    return value === null && method === 'eth_getBlockByNumber' ? null : { value };
  } catch (error) {
    if (error instanceof BaseError && isUnknownBlock(readDetails(error))) return null;
    // A call may need the time of a block that is not made yet, as on a chain that was idle; the node has the block.
    if (method === 'eth_estimateGas') return { value: await ask(at('pending'), options) };
    throw error;
  }
}
