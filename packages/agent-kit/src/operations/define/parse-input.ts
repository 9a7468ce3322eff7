import { AgentKitError } from '../../types/agent-kit-error.js';
import { cleanUntrusted } from '../../types/untrusted-text.js';
import type { Operation } from './operation.js';

/**
 * Parses the inputs of an operation with its schema; unknown fields are refused.
 * @throws AgentKitError `INVALID_INPUT` with every problem.
 */
export function parseInput(operation: Pick<Operation, 'name' | 'input'>, input: unknown): Record<string, unknown> {
  const result = operation.input.strict().safeParse(input);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) =>
    cleanUntrusted(path.length === 0 ? message : `${path.join('.')}: ${message}`),
  );
  throw new AgentKitError('INVALID_INPUT', `The inputs of ${operation.name} are invalid: ${problems.join('; ')}.`, {
    details: { problems },
  });
}
