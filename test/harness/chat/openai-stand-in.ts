import { randomUUID } from 'node:crypto';

import type { ModelReply, ModelRequest, ModelStandIn } from './model-replies.js';
import { startModelServer, type WriteEvents } from './start-model-server.js';

/** Answers like OpenAI's chat completions: streamed as server-sent events, tool calls in two pieces each. */
export function startOpenAiStandIn(
  replies: readonly ModelReply[] | ((request: ModelRequest, number: number) => ModelReply),
): Promise<ModelStandIn> {
  return startModelServer('/v1', replies, writeEvents);
}

const writeEvents: WriteEvents = ({ text = '', toolCalls = [], hangs = false, breaks }) => {
  const id = `chatcmpl-${randomUUID()}`;
  const write = (delta: object, finishReason: string | null = null) => {
    const choices = [{ index: 0, delta, finish_reason: finishReason }];
    return `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: 1, model: 'stand-in', choices })}\n\n`;
  };
  const calls = toolCalls.flatMap(({ name, input, extraContent }, index) => {
    const json = JSON.stringify(input);
    const half = Math.ceil(json.length / 2);
    const start = {
      index,
      id: `call_${randomUUID()}`,
      type: 'function',
      function: { name, arguments: json.slice(0, half) },
      ...(extraContent ? { extra_content: extraContent } : {}),
    };
    const rest = write({ tool_calls: [{ index, function: { arguments: json.slice(half) } }] });
    return [write({ tool_calls: [start] }), ...(breaks && index === toolCalls.length - 1 ? [] : [rest])];
  });
  return [
    write({ role: 'assistant', content: '' }),
    ...(text.match(/\S+\s*|\s+/g) ?? []).map((piece) => write({ content: piece })),
    ...calls,
    ...(hangs || breaks ? [] : [write({}, toolCalls.length > 0 ? 'tool_calls' : 'stop'), 'data: [DONE]\n\n']),
  ];
};
