import { ToolMessage } from '@langchain/core/messages';
import { tool, type StructuredToolInterface, type ToolRunnableConfig } from '@langchain/core/tools';

import { listTools, type OfferedTool } from './list-tools.js';
import { isFailure, type OperationRunner, type ToolOptions } from './run-operation.js';

export type LangChainToolOptions = ToolOptions;

/**
 * The kit's operations as LangChain tools. Tools that send transactions are tagged `write` and have `metadata.readOnly`
 * false: let `humanInTheLoopMiddleware` interrupt on these, or pass `confirm`, which is called with the simulated plan.
 * A failed call becomes a `ToolMessage` with status `error`; the result is its JSON content, and its artifact.
 */
export function createLangChainTools(
  kit: OperationRunner,
  options: LangChainToolOptions = {},
): StructuredToolInterface[] {
  return listTools(kit, options).map((offered) => createTool(offered, options));
}

function createTool(
  { name, title, description, input: schema, kind, run }: OfferedTool,
  options: LangChainToolOptions,
): StructuredToolInterface {
  const call = async (input: unknown, { signal, toolCall }: ToolRunnableConfig): Promise<string | ToolMessage> => {
    const result = await run(input, { ...options, ...(signal ? { signal } : {}) });
    const content = JSON.stringify(result);
    if (toolCall?.id === undefined) return content;
    const status = isFailure(result) ? 'error' : 'success';
    return new ToolMessage({ content, artifact: result, status, name, tool_call_id: toolCall.id });
  };
  return tool(call, {
    name,
    description,
    schema,
    metadata: { title, readOnly: kind === 'read' },
    tags: [kind === 'read' ? 'read' : 'write'],
  });
}
