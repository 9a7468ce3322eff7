import type { NamedProvider } from '../../model-provider.js';

/** A model behind an API, with everything needed to call it. */
export interface RemoteModel {
  provider: Exclude<NamedProvider, 'offline'> | 'url';
  baseUrl: string;
  model: string;
  /** Null for a server that needs none. */
  apiKey: string | null;
}

export type ModelChoice = { provider: 'offline' } | RemoteModel;

/** The parts that the chat shows and the kit gets: never the key. */
export function describeModel(choice: ModelChoice): string {
  if (choice.provider === 'offline') return 'offline: a command line, no key needed';
  const place = choice.provider === 'url' ? new URL(choice.baseUrl).host : choice.provider;
  return `${choice.model} of ${place}`;
}

/** The identifier for the kit's constructor. */
export function identifyModel(choice: ModelChoice): string {
  if (choice.provider === 'offline') return 'offline';
  return choice.provider === 'url' ? choice.baseUrl : `${choice.provider}:${choice.model}`;
}

interface ProviderFacts {
  /** The API's address; for all but `anthropic` one that speaks OpenAI's chat completions. */
  baseUrl: string;
  defaultModel: string;
}

/** Preferably an alias that the provider moves to its current model: a dated name is switched off one day. */
export const PROVIDERS: Readonly<Record<Exclude<NamedProvider, 'offline'>, ProviderFacts>> = {
  openai: { baseUrl: 'https://api.openai.com/v1', defaultModel: 'gpt-5.4-mini' },
  anthropic: { baseUrl: 'https://api.anthropic.com', defaultModel: 'claude-sonnet-5' },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    defaultModel: 'gemini-flash-latest',
  },
  groq: { baseUrl: 'https://api.groq.com/openai/v1', defaultModel: 'openai/gpt-oss-120b' },
  mistral: { baseUrl: 'https://api.mistral.ai/v1', defaultModel: 'mistral-large-latest' },
  cohere: { baseUrl: 'https://api.cohere.ai/compatibility/v1', defaultModel: 'command-a-03-2025' },
};
