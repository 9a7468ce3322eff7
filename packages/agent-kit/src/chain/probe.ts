import type { Address, PublicClient } from 'viem';

import { hideKeyWords } from '../types/agent-kit-error.js';
import { cleanUntrusted } from '../types/untrusted-text.js';
import { isNoAnswer } from './explain-failure.js';

/** What shows on chain that a contract is what a list says it is: the answer of a getter without parameters. */
export interface Probe {
  /** The contract's part in its protocol, or its symbol: `router`. */
  contract: string;
  address: Address;
  getter: string;
  returns: 'address' | 'address[]' | 'string' | 'uint8' | 'uint256';
  /** Letters count alike in both cases. If omitted: any answer, except for an empty list and the zero address. */
  expected?: string | number;
}

export interface ProbeResult {
  /** `router.factory()` */
  read: string;
  expected: string;
  /** Untrusted text, cut; null if the contract gave no such answer. */
  found: string | null;
  isRight: boolean;
}

type Answer = string | number | bigint | readonly string[];

/** @throws any error of a node that does not answer */
export async function runProbe(client: PublicClient, probe: Probe): Promise<ProbeResult> {
  const { contract, address, getter, returns, expected } = probe;
  const outputs = [{ type: returns }];
  const abi = [{ type: 'function', name: getter, stateMutability: 'view', inputs: [], outputs }];
  const answer = (await client.readContract({ address, abi, functionName: getter }).catch((error: unknown) => {
    if (isNoAnswer(error)) throw error;
    return null;
  })) as Answer | null;
  const found = answer === null ? null : hideKeyWords(cleanUntrusted(showAnswer(answer), 100), 'PROTOCOL_UNAVAILABLE');
  return {
    read: `${contract}.${getter}()`,
    expected: String(expected ?? 'any'),
    found,
    isRight: expected === undefined ? isSomething(found) : found?.toLowerCase() === String(expected).toLowerCase(),
  };
}

function showAnswer(answer: Answer): string {
  return typeof answer === 'object' ? answer.join(', ') : String(answer);
}

function isSomething(found: string | null): boolean {
  return found !== null && found !== '' && !/^0x0{40}$/.test(found);
}

/** One sentence for each answer that is not the expected one, which is in quotes. */
export function describeWrong(results: readonly ProbeResult[]): string[] {
  return results
    .filter(({ isRight }) => !isRight)
    .map(({ read, expected, found }) => {
      const wanted = expected === 'any' ? '' : `, and not ${expected}`;
      return found === null ? `${read} gives no answer` : `${read} is ${JSON.stringify(found)}${wanted}`;
    });
}
