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
