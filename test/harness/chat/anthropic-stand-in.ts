import { randomUUID } from 'node:crypto';

import type { ModelReply, ModelRequest, ModelStandIn } from './model-replies.js';
import { startModelServer, type WriteEvents } from './start-model-server.js';

/** Answers like Anthropic's messages API: streamed as server-sent events, one content block after the other. */
export function startAnthropicStandIn(
  replies: readonly ModelReply[] | ((request: ModelRequest, number: number) => ModelReply),
): Promise<ModelStandIn> {
  return startModelServer('', replies, writeEvents);
}

const writeEvents: WriteEvents = ({ text = '', toolCalls = [], hangs = false, breaks }) => {
  const write = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const block = (index: number, start: object, deltas: object[]) => [
    write('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => write('content_block_delta', { index, delta })),
    write('content_block_stop', { index }),
  ];
  const pieces = text.match(/\S+\s*|\s+/g) ?? [];
  const textBlocks = text === '' ? [] : [{ start: { type: 'text', text: '' }, deltas: pieces.map(createTextDelta) }];
  const callBlocks = toolCalls.map(({ name, input }, index) => {
    const json = JSON.stringify(input);
    const half = Math.ceil(json.length / 2);
    const pieces = breaks && index === toolCalls.length - 1 ? [json.slice(0, half)] : [json];
    return {
      start: { type: 'tool_use', id: `toolu_${randomUUID()}`, name, input: {} },
      deltas: pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    };
  });
  const message = {
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model: 'stand-in',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const stopReason = toolCalls.length > 0 ? 'tool_use' : 'end_turn';
  return [
    write('message_start', { message }),
    ...[...textBlocks, ...callBlocks].flatMap(({ start, deltas }, index) => block(index, start, deltas)),
    ...(hangs || breaks
      ? []
      : [
          write('message_delta', {
            delta: { stop_reason: stopReason, stop_sequence: null },
            usage: { output_tokens: 1 },
          }),
          write('message_stop', {}),
        ]),
  ];
};

const createTextDelta = (text: string) => ({ type: 'text_delta', text });
