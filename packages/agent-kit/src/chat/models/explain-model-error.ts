import { quoteUntrusted } from '../../types/untrusted-text.js';
import { ModelStreamError } from './assert-whole-stream.js';
import { describeModel, type ModelChoice } from './model-choice.js';

const CONNECTION_CODES = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH'];

/**
 * One sentence on why the model did not answer. The provider's text is quoted only where it helps, cut, and never with
 * the key in it.
 */
export function explainModelError(thrown: unknown, choice: ModelChoice): string {
  const chain = listCauses(thrown);
  const stream = chain.find((error) => error instanceof ModelStreamError);
  if (stream) return explainStream(stream, choice);
  const model = describeModel(choice);
  const [{ name, message } = new Error(String(thrown))] = chain;
  const said = () => quoteUntrusted(withoutKey(message, choice), 200);
  const status = chain.map((error) => error.status).find((value) => typeof value === 'number');
  switch (status) {
    case 400:
    case 413:
    case 422:
      return `The model's provider refused the request (${status}): ${said()}.`;
    case 401:
    case 403:
      return `The model's provider refused the key (${status}): check MODEL_API_KEY for ${model}.`;
    case 402:
      return `The model's provider asks for payment (402): check the account of ${model}.`;
    case 404:
      return `There is no such model or address (404): check MODEL_NAME and MODEL_BASE_URL for ${model}.`;
    case 429:
      return `The model's provider limits requests, or the account has no credit left (429): wait, then ask ${model} again.`;
    case undefined:
      break;
    default:
      return `The model's provider failed (${status}): ${model} is unavailable at the moment.`;
  }
  if (/timeout|timed out/i.test(`${name} ${message}`)) return `${model} did not answer in time: ask again.`;
  if (
    chain.some(({ code }) => CONNECTION_CODES.includes(String(code))) ||
    /connection error|fetch failed/i.test(message)
  )
    return `${model} cannot be reached: check the network and MODEL_BASE_URL.`;
  return `${model} returned an invalid answer: ${said()}.`;
}

/** With the host, because a machine on the way to it may have cut or changed the answer. */
function explainStream({ fault, text }: ModelStreamError, choice: ModelChoice): string {
  const host = choice.provider === 'offline' ? 'this program' : new URL(choice.baseUrl).host;
  const said = quoteUntrusted(withoutKey(text, choice), 200);
  const start = `The stream of ${describeModel(choice)} from ${host}`;
  switch (fault) {
    case 'cut':
      return `${start} ended early, so none of its tool calls was run: ask again, and check the connection to ${host} if it happens again.`;
    case 'unreadable':
      return `${start} is invalid, so none of its tool calls was run: it sent ${said}, which is not an event of the API; ask again, and check MODEL_BASE_URL if it happens again.`;
    case 'failed':
      return `${start} was ended by the provider, so none of its tool calls was run: ${said}; wait, then ask again.`;
  }
}

/** The error and what caused it, outermost first. */
function listCauses(thrown: unknown): (Error & { status?: unknown; code?: unknown })[] {
  const chain: Error[] = [];
  for (let error = thrown; error instanceof Error && chain.length < 5; error = error.cause) chain.push(error);
  return chain;
}

function withoutKey(text: string, choice: ModelChoice): string {
  const key = choice.provider === 'offline' ? null : choice.apiKey;
  return key === null || key === '' ? text : text.replaceAll(key, '…');
}
