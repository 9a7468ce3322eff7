import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { isRecord, type JsonRecord } from '@tollgate/protocol';

import { loadPackages } from '../../load-packages.js';
import { assertWholeStream } from './assert-whole-stream.js';
import type { RemoteModel } from './model-choice.js';

// The time limit of a request, and how often a request that could not be made is tried again.
const TIMEOUT_MS = 120_000;
const MAX_RETRIES = 2;
const MAX_ANSWER_TOKENS = 8_192;
// The clients would print a server's text, unchanged, into the conversation.
const LOG_LEVEL = 'off';

/**
 * The client of a model. Two packages serve all providers: one for Anthropic's API, one for OpenAI's and its likes.
 * @throws AgentKitError `PACKAGE_MISSING`
 */
export async function createRemoteModel({ provider, baseUrl, model, apiKey }: RemoteModel): Promise<BaseChatModel> {
  if (provider === 'anthropic') {
    const { ChatAnthropic } = await loadPackages(
      '--model anthropic',
      ['@langchain/anthropic'],
      () => import('@langchain/anthropic'),
    );
    return new ChatAnthropic({
      model,
      anthropicApiKey: apiKey ?? '',
      anthropicApiUrl: baseUrl,
      maxTokens: MAX_ANSWER_TOKENS,
      maxRetries: MAX_RETRIES,
      clientOptions: { timeout: TIMEOUT_MS, authToken: null, logLevel: LOG_LEVEL, fetch: assertWholeStream(fetch) },
    });
  }
  const { ChatOpenAI } = await loadPackages(
    `--model ${provider === 'url' ? 'with a URL' : provider}`,
    ['@langchain/openai'],
    () => import('@langchain/openai'),
  );
  return new ChatOpenAI({
    model,
    // The client requires a key; a server that needs none ignores it.
    apiKey: apiKey ?? 'none',
    maxRetries: MAX_RETRIES,
    timeout: TIMEOUT_MS,
    // Cohere refuses the field that requests usage, and it is not used here.
    streamUsage: false,
    configuration: {
      baseURL: baseUrl,
      logLevel: LOG_LEVEL,
      organization: null,
      project: null,
      fetch: provider === 'google' ? keepThoughtSignatures(fetch) : assertWholeStream(fetch),
    },
  });
}

const objectsOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : []);

/**
 * Gemini signs its tool calls (`extra_content`), and refuses a conversation in which a call comes back without its
 * signature. The OpenAI client drops the field, so this remembers it by the call's id and puts it back.
 */
function keepThoughtSignatures(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const signatures = new Map<string, unknown>();
  const readingFetch = assertWholeStream(fetch, ({ choices }) => {
    for (const { delta } of objectsOf(choices)) {
      for (const { id, extra_content: signature } of isRecord(delta) ? objectsOf(delta['tool_calls']) : []) {
        if (typeof id === 'string' && signature !== undefined) signatures.set(id, signature);
      }
    }
  });
  return (input, init) =>
    readingFetch(input, typeof init?.body === 'string' ? { ...init, body: putBack(init.body, signatures) } : init);
}

function putBack(body: string, signatures: ReadonlyMap<string, unknown>): string {
  if (signatures.size === 0) return body;
  const request = JSON.parse(body) as JsonRecord;
  for (const message of objectsOf(request['messages'])) {
    for (const call of objectsOf(message['tool_calls'])) {
      const signature = signatures.get(String(call['id']));
      if (signature !== undefined) call['extra_content'] = signature;
    }
  }
  return JSON.stringify(request);
}
