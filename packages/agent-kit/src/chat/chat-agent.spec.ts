import { tool, type StructuredToolInterface } from '@langchain/core/tools';
import { z } from 'zod';

import { startAnthropicStandIn } from '../../../../test/harness/chat/anthropic-stand-in.js';
import type { ModelReply, ModelStandIn } from '../../../../test/harness/chat/model-replies.js';
import { startOpenAiStandIn } from '../../../../test/harness/chat/openai-stand-in.js';
import { createChatAgent, type ChatAgent, type ChatListener } from './chat-agent.js';
import { createRemoteModel } from './models/create-remote-model.js';
import { explainModelError } from './models/explain-model-error.js';

let standIn: ModelStandIn;
afterEach(() => standIn.stop());

interface Heard extends ChatListener {
  texts: string[];
  events: string[];
}

function listen(): Heard {
  const texts: string[] = [];
  const events: string[] = [];
  return {
    texts,
    events,
    onText: (text) => void texts.push(text),
    onToolCall: (name, input) => void events.push(`call ${name} ${JSON.stringify(input)}`),
    onToolResult: (content) => void events.push(`result ${content}`),
  };
}

interface Message {
  role: string;
  content?: unknown;
  tool_calls?: { id: string }[];
  tool_call_id?: string;
}
const messagesOf = (request: number) => standIn.requests[request]!.body['messages'] as Message[];

const never = new AbortController().signal;
const double = tool(
  ({ amount }: { amount: string }) => JSON.stringify({ status: 'success', twice: 2n * BigInt(amount) + '' }),
  {
    name: 'double',
    description: 'Doubles an amount.',
    schema: z.object({ amount: z.string() }),
  },
);

async function startAgent(
  provider: 'openai' | 'anthropic',
  replies: ModelReply[],
  tools: StructuredToolInterface[] = [double],
): Promise<ChatAgent> {
  const start = provider === 'openai' ? startOpenAiStandIn : startAnthropicStandIn;
  standIn = await start(replies);
  const model = await createRemoteModel({ provider, baseUrl: standIn.url, model: 'stand-in', apiKey: 'the-key' });
  return createChatAgent({ model, tools, systemPrompt: 'You double amounts.' });
}

describe.each(['openai', 'anthropic'] as const)('with the API of %s', (provider) => {
  it('calls the tools the model asks for, and passes on its words as they come', async () => {
    const agent = await startAgent(provider, [
      { toolCalls: [{ name: 'double', input: { amount: '21' } }] },
      { text: 'That makes 42 in all.' },
    ]);
    const heard = listen();
    await agent.say('double 21', heard, never);
    expect(heard.events).toEqual(['call double {"amount":"21"}', 'result {"status":"success","twice":"42"}']);
    expect(heard.texts).toEqual(['That ', 'makes ', '42 ', 'in ', 'all.']);
    expect(JSON.stringify(standIn.requests[0]!.body)).toContain('You double amounts.');
    expect(JSON.stringify(standIn.requests[1]!.body)).toContain('twice');
    const { headers } = standIn.requests[0]!;
    expect(headers[provider === 'openai' ? 'authorization' : 'x-api-key']).toMatch(/the-key$/);
  });

  it.each(['closes', 'resets'] as const)('carries out no call whose stream %s in the middle', async (breaks) => {
    const toolCalls = [{ name: 'double', input: { amount: '1234567890' } }];
    const agent = await startAgent(provider, [{ toolCalls, breaks }]);
    const heard = listen();
    const error: unknown = await agent
      .say('double 1234567890', heard, new AbortController().signal)
      .catch((thrown: unknown) => thrown);
    const choice = { provider, baseUrl: standIn.url, model: 'stand-in', apiKey: 'the-key' };
    expect(explainModelError(error, choice)).toBe(
      `The stream of stand-in of ${provider} from ${new URL(standIn.url).host} ended early, so none of its tool calls was run: ` +
        `ask again, and check the connection to ${new URL(standIn.url).host} if it happens again.`,
    );
    expect(heard.events).toEqual([]);
    expect(standIn.requests).toHaveLength(1);
  });

  it('remembers the earlier turns', async () => {
    const agent = await startAgent(provider, [{ text: 'Hello Ada.' }, { text: 'Ada.' }]);
    await agent.say('I am Ada', listen(), never);
    await agent.say('who am I?', listen(), never);
    expect(
      messagesOf(1)
        .filter(({ role }) => role !== 'system')
        .map(({ role }) => role),
    ).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(messagesOf(1))).toContain('I am Ada');
  });
});

it('runs tools that are called together one after the other, in their order', async () => {
  const events: string[] = [];
  const slow = tool(
    async ({ amount }: { amount: string }) => {
      events.push(`begin ${amount}`);
      await new Promise(setImmediate);
      events.push(`end ${amount}`);
      return '{}';
    },
    { name: 'slow', description: 'Takes a while.', schema: z.object({ amount: z.string() }) },
  );
  const calls = ['1', '2', '3'].map((amount) => ({ name: 'slow', input: { amount } }));
  const agent = await startAgent('openai', [{ toolCalls: calls }, { text: 'Done.' }], [slow]);
  await agent.say('go', listen(), never);
  expect(events).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'end 3']);
});

it('finishes the running tool when it is stopped, starts no other, and reports it to the model next turn', async () => {
  const stop = new AbortController();
  const stopping = tool(
    ({ amount }: { amount: string }) => {
      stop.abort();
      return JSON.stringify({ status: 'success', sent: amount });
    },
    { name: 'send', description: 'Sends.', schema: z.object({ amount: z.string() }) },
  );
  const calls = ['1', '2'].map((amount) => ({ name: 'send', input: { amount } }));
  const agent = await startAgent('openai', [{ toolCalls: calls }, { text: 'I see.' }], [stopping]);
  const heard = listen();
  await expect(agent.say('send 1 and 2', heard, stop.signal)).rejects.toThrow();
  expect(heard.events).toEqual(['call send {"amount":"1"}', 'result {"status":"success","sent":"1"}']);

  await agent.say('and now?', listen(), never);
  const history = messagesOf(1);
  expect(history.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'user']);
  expect(history[3]!.content).toBe('{"status":"success","sent":"1"}');
  expect(history[4]!.content).toContain('"status":"cancelled"');
  expect(history[2]!.tool_calls!.map(({ id }) => id)).toEqual([history[3]!.tool_call_id, history[4]!.tool_call_id]);
});

it('stops the request when the turn is stopped while the model speaks, and goes on in the next', async () => {
  const agent = await startAgent('openai', [{ text: 'Once upon a', hangs: true }, { text: 'Yes?' }]);
  const stop = new AbortController();
  const heard = listen();
  const turn = agent.say(
    'tell a story',
    { ...heard, onText: (text) => text.startsWith('a') && stop.abort() },
    stop.signal,
  );
  await expect(turn).rejects.toThrow();
  await standIn.abandoned;
  const next = listen();
  await agent.say('hello?', next, never);
  expect(next.texts.join('')).toBe('Yes?');
});

it('answers an unknown tool call, or one with wrong inputs, with an error that the model can correct', async () => {
  const agent = await startAgent('openai', [
    {
      toolCalls: [
        { name: 'triple', input: {} },
        { name: 'double', input: { amount: 21 } },
      ],
    },
    { text: 'Sorry.' },
  ]);
  const heard = listen();
  await agent.say('triple it', heard, never);
  expect(heard.events[1]).toContain('There is no tool of this name.');
  expect(heard.events[3]).toContain('The inputs do not fit');
  expect(heard.texts.join('')).toBe('Sorry.');
});
