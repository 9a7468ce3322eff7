import { createDirectExecutor } from './direct-executor.js';
import type { ExecutionContext, Executor } from './executor.js';
import { readOnlyExecutor } from './read-only-executor.js';
import { createSignOnlyExecutor } from './sign-only-executor.js';

export function createExecutor({
  kind,
  ...context
}: ExecutionContext & { kind: 'direct' | 'sign-only' | 'read-only' }): Executor {
  switch (kind) {
    case 'direct':
      return createDirectExecutor(context);
    case 'sign-only':
      return createSignOnlyExecutor(context);
    case 'read-only':
      return readOnlyExecutor;
  }
}
