import type { NamedProvider } from '../../model-provider.js';

/** A model behind an API: everything is known, the key too where the provider needs one. */
export interface RemoteModel {
  provider: Exclude<NamedProvider, 'offline'> | 'url';
  baseUrl: string;
  model: string;
  /** Null for a server that wants none. */
  apiKey: string | null;
}

export type ModelChoice = { provider: 'offline' } | RemoteModel;

/** What the chat shows of it, and what the kit is told: never the key. */
export function describeModel(choice: ModelChoice): string {
  if (choice.provider === 'offline') return 'offline: a command line, no key needed';
  const place = choice.provider === 'url' ? new URL(choice.baseUrl).host : choice.provider;
  return `${choice.model} of ${place}`;
}

/** The identifier that the kit's constructor takes. */
export function identifyModel(choice: ModelChoice): string {
  if (choice.provider === 'offline') return 'offline';
  return choice.provider === 'url' ? choice.baseUrl : `${choice.provider}:${choice.model}`;
}
