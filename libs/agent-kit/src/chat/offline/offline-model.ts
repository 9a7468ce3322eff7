import { randomUUID } from 'node:crypto';

import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import type { BaseLanguageModelInput } from '@langchain/core/language_models/base';
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BaseChatModelParams,
  type BindToolsInput,
} from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs';
import type { Runnable } from '@langchain/core/runnables';

import { createNextMessage, type NextMessage } from './next-message.js';
import { readTurns } from './read-turns.js';

export interface OfflineModelFields extends BaseChatModelParams {
  /** Resources that can be bought by name, with their URLs. */
  resources?: Readonly<Record<string, string>>;
}

export interface OfflineModelCallOptions extends BaseChatModelCallOptions {
  /** Names of the tools that were bound. */
  toolNames?: readonly string[];
}

/** Where the gateway of the development setup sells the weather. */
const DEFAULT_RESOURCES: Readonly<Record<string, string>> = { weather: 'http://127.0.0.1:4020/api/weather' };

/**
 * A chat model of rules: it understands plain requests for the operations of the kit without any key or network. What it
 * answers follows from the messages alone; ids of messages and calls are fresh each time, as agents merge by them.
 */
export class OfflineModel extends BaseChatModel<OfflineModelCallOptions> {
  private readonly resources: Readonly<Record<string, string>>;

  constructor({ resources = DEFAULT_RESOURCES, ...fields }: OfflineModelFields = {}) {
    super(fields);
    this.resources = resources;
  }

  static override lc_name(): string {
    return 'OfflineModel';
  }

  override _llmType(): string {
    return 'offline';
  }

  override bindTools(
    tools: BindToolsInput[],
    kwargs?: Partial<OfflineModelCallOptions>,
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, OfflineModelCallOptions> {
    return this.withConfig({ ...kwargs, toolNames: tools.map(nameTool) });
  }

  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    const next = this.answer(messages, options);
    const message = new AIMessage({ id: randomUUID(), content: next.text, tool_calls: createCalls(next) });
    return { generations: [{ message, text: next.text }] };
  }

  /** The text in pieces, then the calls; all under one id. */
  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const next = this.answer(messages, options);
    const id = randomUUID();
    for (const piece of next.text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
      const message = new AIMessageChunk({ id, content: piece });
      const chunk = new ChatGenerationChunk({ message, text: piece });
      yield chunk;
      await runManager?.handleLLMNewToken(piece, undefined, undefined, undefined, undefined, { chunk });
    }
    if (next.calls.length === 0 && next.text !== '') return;
    const calls = createCalls(next).map(({ id: callId, name, args }, index) => ({
      type: 'tool_call_chunk' as const,
      id: callId,
      name,
      args: JSON.stringify(args),
      index,
    }));
    yield new ChatGenerationChunk({
      message: new AIMessageChunk({ id, content: '', tool_call_chunks: calls }),
      text: '',
    });
  }

  private answer(messages: readonly BaseMessage[], { toolNames }: this['ParsedCallOptions']): NextMessage {
    return createNextMessage(
      readTurns(messages),
      this.resources,
      (name) => toolNames === undefined || toolNames.includes(name),
    );
  }
}

const createCalls = ({ calls }: NextMessage) =>
  calls.map(({ name, args }) => ({ type: 'tool_call' as const, id: `call_${randomUUID()}`, name, args }));

function nameTool(tool: BindToolsInput): string {
  if ('name' in tool && typeof tool.name === 'string') return tool.name;
  const definition: unknown = 'function' in tool ? tool.function : undefined;
  const name = typeof definition === 'object' && definition !== null && 'name' in definition ? definition.name : '';
  return typeof name === 'string' ? name : '';
}
