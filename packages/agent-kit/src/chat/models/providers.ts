import type { NamedProvider } from '../../model-provider.js';

export interface ProviderFacts {
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
