import { startStack, type Stack, type StackOptions } from '../../../tools/devnet/stack/stack.js';

const START_WITHIN_MS = 120_000;

/**
 * A stack for all tests of a file (or describe): started before the first, stopped after the last. When a test failed,
 * the last lines of every process are printed. Usage: `const stack = useStack({verifiers: 2})`, then `stack().baseUrl`.
 */
export function useStack(options: StackOptions = {}): () => Stack {
  let stack: Stack | undefined;
  beforeAll(async () => {
    stack = await startStack(options);
  }, START_WITHIN_MS);
  afterAll(async () => {
    const { hasFailedTest } = globalThis as { hasFailedTest?: boolean };
    if (hasFailedTest && stack) process.stderr.write(`\nA test failed. The processes' last lines:\n${stack.logs()}\n`);
    await stack?.stop();
  }, START_WITHIN_MS);
  return () => {
    if (!stack) throw new Error('the stack is there in tests and hooks, not while they are declared');
    return stack;
  };
}
