import { EVENT_TYPES, type AgentJobEvent } from '@tollgate/protocol';

/** Parses an event from its JSON text; null for an invalid one, or one of a type that this version does not know. */
export function parseAgentJobEvent(text: string): AgentJobEvent | null {
  const event = parseObject(text);
  if (event === null || !EVENT_TYPES.some((type) => type === event.type)) return null;
  const { id, jobId, operation, wallet, at } = event;
  const areTexts = [id, jobId, operation, wallet, at].every((member) => typeof member === 'string');
  return areTexts ? (event as AgentJobEvent) : null;
}

function parseObject(text: string): Partial<Record<keyof AgentJobEvent, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}
