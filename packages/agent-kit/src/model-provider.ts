import { isHttpUrl } from '@tollgate/protocol';

import { AgentKitError } from './types/agent-kit-error.js';

/** The providers with a name; any other OpenAI-compatible one is given by its URL. */
export const MODEL_PROVIDERS = ['openai', 'anthropic', 'google', 'groq', 'mistral', 'cohere', 'offline'] as const;
export type NamedProvider = (typeof MODEL_PROVIDERS)[number];

export interface ModelProvider {
  provider: NamedProvider | 'url';
  /** Set only for `url`. */
  baseUrl: string | null;
  /** Null: the provider's default. */
  model: string | null;
}

/**
 * Parses a model provider identifier: `openai`, `openai:gpt-4o-mini`, or the `https://…/v1` of an OpenAI-compatible
 * server.
 * @throws AgentKitError `INVALID_CONFIGURATION` with the list of providers.
 */
export function parseModelProvider(identifier: string): ModelProvider {
  const text = typeof identifier === 'string' ? identifier.trim() : '';
  if (isHttpUrl(text)) return { provider: 'url', baseUrl: text, model: null };
  const [name = '', ...rest] = text.split(':');
  const provider = MODEL_PROVIDERS.find((known) => known === name.toLowerCase());
  if (!provider) {
    throw new AgentKitError(
      'INVALID_CONFIGURATION',
      `The model provider must be one of ${MODEL_PROVIDERS.join(', ')}, or the URL of an OpenAI-compatible server.`,
    );
  }
  return { provider, baseUrl: null, model: rest.length > 0 ? rest.join(':') : null };
}
