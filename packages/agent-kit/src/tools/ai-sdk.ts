// Types only: at run time a tool of the SDK is a plain object, and this module loads without the package.
import type { Tool } from 'ai';

import { listTools } from './list-tools.js';
import { isFailure, type OperationResult, type OperationRunner, type ToolOptions } from './run-operation.js';

export interface AiSdkToolOptions extends ToolOptions {
  /**
   * Whether writes wait for a tool approval. Default: true unless `confirm` is given, which asks with the simulated
   * plan.
   */
  needsApproval?: boolean;
}

/** The kit's operations as a tool set of the Vercel AI SDK. The model receives failures as errors. */
export function createAiSdkTools(
  kit: OperationRunner,
  options: AiSdkToolOptions = {},
): Record<string, Tool<unknown, OperationResult>> {
  const needsApproval = options.needsApproval ?? options.confirm === undefined;
  const tools = listTools(kit, options).map(({ name, title, description, input, kind, run }) => {
    const readOnly = kind === 'read';
    const adapted: Tool<unknown, OperationResult> = {
      title,
      description,
      inputSchema: input,
      metadata: { readOnly },
      needsApproval: !readOnly && needsApproval,
      execute: (given, { abortSignal }) => run(given, { ...options, ...(abortSignal ? { signal: abortSignal } : {}) }),
      toModelOutput: ({ output }) => ({ type: isFailure(output) ? 'error-json' : 'json', value: output }),
    };
    return [name, adapted] as const;
  });
  return Object.fromEntries(tools);
}
