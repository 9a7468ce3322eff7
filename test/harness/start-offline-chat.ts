import type { BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { createAgent } from 'langchain';
import { z } from 'zod';

import { OPERATIONS } from '../../libs/agent-kit/src/chat/offline/lexicon/operations.js';
import { OfflineModel } from '../../libs/agent-kit/src/chat/offline/offline-model.js';

type Answer = (input: Record<string, unknown>) => unknown;

const RESULT = { status: 'success', result: `0x${'ab'.repeat(32)}` };
/** What the tool `getERC20Balance` answers. */
export const balance = (amount: string, ticker: string, decimals: number) => ({
  status: 'success',
  balance: amount,
  token: { ticker, address: '0x0', decimals, isListed: true },
});

/** A conversation with an agent whose tools answer what they are told to, and record what they were asked. */
export function startChat(answers: Readonly<Record<string, Answer>> = {}, names = Object.keys(OPERATIONS)) {
  const calls: string[] = [];
  const tools = names.map((name) =>
    tool(
      (input: Record<string, unknown>) => {
        calls.push([name, ...Object.entries(input).map(([slot, value]) => `${slot}=${String(value)}`)].join(' '));
        return JSON.stringify(answers[name]?.(input) ?? RESULT);
      },
      { name, description: name, schema: z.looseObject({}) },
    ),
  );
  const agent = createAgent({ model: new OfflineModel(), tools, checkpointer: new MemorySaver() });
  const thread = { configurable: { thread_id: 'one' } };
  let messages: BaseMessage[] = [];
  const say = async (text: string): Promise<string> => {
    calls.length = 0;
    ({ messages } = await agent.invoke({ messages: [{ role: 'user', content: text }] }, thread));
    return messages.at(-1)?.text ?? '';
  };
  return { say, calls, messages: () => messages };
}
