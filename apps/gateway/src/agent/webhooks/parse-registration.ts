import { AGENT_OPERATIONS, EVENT_TYPES, type AgentOperation, type JobEventType } from '@tollgate/protocol';

import { refuseRequest } from '../request-invalid.js';

export interface WebhookRegistration {
  readonly url: string;
  /** Empty: all. */
  readonly events: readonly JobEventType[];
  /** Empty: all. */
  readonly operations: readonly AgentOperation[];
}

/** @throws ProblemError listing every mistake in the body */
export function parseRegistration(body: unknown): WebhookRegistration {
  const { url, events = [], operations = [], ...others } = Object(body) as Record<string, unknown>;
  const problems = Object.keys(others)
    .slice(0, 10)
    .map(
      (name) =>
        `${JSON.stringify(name.slice(0, 40))} is not a field of a webhook; its fields are url, events, operations`,
    );
  const isUrl = typeof url === 'string' && url !== '';
  if (!isUrl) problems.push('url must be the URL to which events are posted');
  const areEvents = isListOf(EVENT_TYPES, events);
  if (!areEvents) problems.push(`events must be a list of ${EVENT_TYPES.join(', ')}; it may be left out`);
  const areOperations = isListOf(AGENT_OPERATIONS, operations);
  if (!areOperations) problems.push(`operations must be a list of ${AGENT_OPERATIONS.join(', ')}; it may be left out`);
  if (problems.length > 0 || !isUrl || !areEvents || !areOperations) throw refuseRequest(problems);
  return { url, events, operations };
}

function isListOf<T extends string>(words: readonly T[], value: unknown): value is T[] {
  return (
    Array.isArray(value) && value.length <= words.length && value.every((one) => words.some((word) => word === one))
  );
}
