import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { HumanMessage, ToolMessage, type AIMessageChunk, type BaseMessage } from '@langchain/core/messages';

import { startAnthropicStandIn } from '../../../../../test/harness/chat/anthropic-stand-in.js';
import type { ModelReply, ModelStandIn } from '../../../../../test/harness/chat/model-replies.js';
import { startOpenAiStandIn } from '../../../../../test/harness/chat/openai-stand-in.js';
import { createRemoteModel } from './create-remote-model.js';
import { explainModelError } from './explain-model-error.js';
import type { RemoteModel } from './model-choice.js';

const KEY = 'sk-secret-0123456789';

let standIn: ModelStandIn;
afterEach(() => standIn.stop());

async function start(provider: RemoteModel['provider'], replies: ModelReply[]): Promise<RemoteModel> {
  standIn = await (provider === 'anthropic' ? startAnthropicStandIn : startOpenAiStandIn)(replies);
  return { provider, baseUrl: standIn.url, model: 'stand-in', apiKey: KEY };
}

async function ask(model: BaseChatModel, messages: BaseMessage[]): Promise<AIMessageChunk> {
  let answer: AIMessageChunk | undefined;
  for await (const chunk of await model.stream(messages)) answer = answer ? answer.concat(chunk) : chunk;
  return answer!;
}

async function explainFailure(choice: RemoteModel): Promise<string> {
  const error: unknown = await ask(await createRemoteModel(choice), [new HumanMessage('hello')]).then(
    () => new Error('it answered'),
    (thrown: unknown) => thrown,
  );
  return explainModelError(error, choice);
}

describe.each(['openai', 'anthropic'] as const)('a failure of %s', (provider) => {
  const errorBody = (message: string) =>
    JSON.stringify({ type: 'error', error: { type: 'some_error', message, code: 'some_code' } });

  it.each([
    [401, 'refused the key (401): check MODEL_API_KEY'],
    [403, 'refused the key (403)'],
    [404, 'check MODEL_NAME and MODEL_BASE_URL'],
    [400, 'refused the request (400)'],
    [429, 'limits requests, or the account has no credit left'],
    [529, 'failed (529)'],
  ])('with status %i is one sentence without the key', async (status, expected) => {
    const body = errorBody(`Incorrect key ${KEY}\u001b[31m\nsecond line`);
    const sentence = await explainFailure(
      await start(provider, [
        { status, body },
        { status, body },
        { status, body },
      ]),
    );
    expect(sentence).toContain(expected);
    expect(sentence).not.toContain(KEY);
    expect(sentence).not.toMatch(/[\n\u001b]/);
  });

  it.each([
    ['an HTML page', '<html><body>Welcome to the hotel WLAN</body></html>', 'it sent "<html><body>Welcome'],
    [
      'a broken event',
      'event: message_start\ndata: {"choices":[{"delta":{"content":"a\n\n',
      'is not an event of the API',
    ],
    ['half an event', 'event: message_start\ndata: {"choices":[{"delta":{"con', 'ended early'],
    ['nothing', '', 'ended early'],
    ['an error', `event: error\ndata: ${errorBody('Overloaded')}\n\n`, 'was ended by the provider'],
  ])('that answers with %s is a broken stream, and printed nowhere else', async (_, raw, what) => {
    const printed = jest.spyOn(console, 'error').mockReturnValue();
    const sentence = await explainFailure(await start(provider, [{ raw }, { raw }, { raw }]));
    expect(sentence).toMatch(/^The stream of stand-in of \w+ from 127\.0\.0\.1:\d+ [^\n]*ask again[^\n]*\.$/);
    expect(sentence).toContain(what);
    expect(printed).not.toHaveBeenCalled();
    printed.mockRestore();
  });

  it('that cannot be reached is reported', async () => {
    const choice = await start(provider, []);
    await standIn.stop();
    expect(await explainFailure(choice)).toContain('cannot be reached');
  });
});

it('sends neither usage options nor another program’s organization to a compatible server', async () => {
  process.env['OPENAI_ORG_ID'] = 'org-of-somebody';
  process.env['OPENAI_PROJECT_ID'] = 'project-of-somebody';
  try {
    const choice = await start('cohere', [{ text: 'hi' }]);
    expect((await ask(await createRemoteModel({ ...choice, apiKey: null }), [new HumanMessage('hello')])).text).toBe(
      'hi',
    );
    const { body, headers, path } = standIn.requests[0]!;
    expect(path).toBe('/v1/chat/completions');
    expect(body['stream_options']).toBeUndefined();
    expect(Object.keys(headers)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/openai-(organization|project)/)]),
    );
  } finally {
    delete process.env['OPENAI_ORG_ID'];
    delete process.env['OPENAI_PROJECT_ID'];
  }
});

it('gives Gemini its signatures back with the tool calls', async () => {
  const extraContent = { google: { thought_signature: 'signed-by-gemini' } };
  const choice = await start('google', [
    { toolCalls: [{ name: 'stake', input: { amount: '2' }, extraContent }] },
    { text: 'Done.' },
  ]);
  const model = await createRemoteModel(choice);
  const question = new HumanMessage('stake 2');
  const call = await ask(model, [question]);
  const result = new ToolMessage({ tool_call_id: call.tool_calls![0]!.id!, content: '{"status":"success"}' });
  await ask(model, [question, call, result]);
  const messages = standIn.requests[1]!.body['messages'] as { tool_calls?: { extra_content?: unknown }[] }[];
  expect(messages[1]!.tool_calls![0]!.extra_content).toEqual(extraContent);
});
