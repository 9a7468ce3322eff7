import { ToolMessage } from '@langchain/core/messages';
import { tool, type StructuredToolInterface, type ToolRunnableConfig } from '@langchain/core/tools';

import type { Operation } from '../operations/operation.js';
import { listOfferedOperations, type OperationRunner, type ToolOptions } from './operation-runner.js';
import { isFailure, runOperation } from './run-operation.js';

export type LangChainToolOptions = ToolOptions;

/**
 * The kit's operations as LangChain tools. What sends transactions is tagged `write` and has `metadata.readOnly` false: let
 * `humanInTheLoopMiddleware` interrupt on these, or give `confirm`, which is asked with the simulated plan. A call that
 * failed becomes a `ToolMessage` with status `error`; the result is its JSON content, and its artifact.
 */
export function createLangChainTools(
  kit: OperationRunner,
  options: LangChainToolOptions = {},
): StructuredToolInterface[] {
  return listOfferedOperations(kit, options).map((operation) => createTool(kit, operation, options));
}

function createTool(
  kit: OperationRunner,
  { name, title, description, input: schema, readOnly }: Operation,
  options: LangChainToolOptions,
): StructuredToolInterface {
  const run = async (input: unknown, { signal, toolCall }: ToolRunnableConfig): Promise<string | ToolMessage> => {
    const result = await runOperation(kit, name, input, { ...options, ...(signal ? { signal } : {}) });
    const content = JSON.stringify(result);
    if (toolCall?.id === undefined) return content;
    const status = isFailure(result) ? 'error' : 'success';
    return new ToolMessage({ content, artifact: result, status, name, tool_call_id: toolCall.id });
  };
  return tool(run, {
    name,
    description,
    schema,
    metadata: { title, readOnly },
    tags: [readOnly ? 'read' : 'write'],
  });
}
