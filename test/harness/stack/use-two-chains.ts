import { startTwoChains, type TwoChains } from '../../../tools/devnet/chain/two-chains.js';
import { startStack, type Stack, type StackOptions } from '../../../tools/devnet/stack/stack.js';

const START_WITHIN_MS = 180_000;

export interface TwoChainStack {
  readonly stack: Stack;
  readonly chains: TwoChains;
}

/**
 * Like `useStack`, on two chains with three tokens: USDC on each, and WDEV on the second (see `writePaymentsFile`). The
 * first verifier serves the first chain.
 */
export function useTwoChains(options: Omit<StackOptions, 'chain' | 'twoChains'> = {}): () => TwoChainStack {
  let chains: TwoChains | undefined;
  let stack: Stack | undefined;
  beforeAll(async () => {
    chains = await startTwoChains();
    stack = await startStack({ ...options, twoChains: chains });
  }, START_WITHIN_MS);
  afterAll(async () => {
    const { hasFailedTest } = globalThis as { hasFailedTest?: boolean };
    if (hasFailedTest && stack) process.stderr.write(`\nA test failed. The processes' last lines:\n${stack.logs()}\n`);
    await stack?.stop();
    await chains?.stop();
  }, START_WITHIN_MS);
  return () => {
    if (!stack || !chains) throw new Error('the stack is there in tests and hooks, not while they are declared');
    return { stack, chains };
  };
}
