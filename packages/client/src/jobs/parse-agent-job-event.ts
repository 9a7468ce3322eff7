import { EVENT_TYPES, type AgentJobEvent } from '@tollgate/protocol';

import { parseJson } from '../network/read-body.js';

/** Parses an event from its JSON text; null for an invalid one, or one of a type that this version does not know. */
export function parseAgentJobEvent(text: string): AgentJobEvent | null {
  const event = Object(parseJson(text)) as Partial<Record<keyof AgentJobEvent, unknown>>;
  if (!EVENT_TYPES.some((type) => type === event.type)) return null;
  const { id, jobId, operation, wallet, at } = event;
  const areTexts = [id, jobId, operation, wallet, at].every((member) => typeof member === 'string');
  return areTexts ? (event as AgentJobEvent) : null;
}
