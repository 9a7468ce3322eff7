import { onlyFields } from '@tollgate/common';
import { AGENT_OPERATIONS, EVENT_TYPES } from '@tollgate/protocol';
import { z } from 'zod';

const URL_MISSING = 'must be the URL to which events are posted';

/** Empty lists: all. Which URLs are allowed is decided when the target is registered. */
export const registrationBody = onlyFields({
  url: z
    .string(URL_MISSING)
    .min(1, URL_MISSING)
    .meta({ description: 'An HTTPS URL on the public internet.', format: 'uri', maxLength: 2048 }),
  events: listOf(EVENT_TYPES),
  operations: listOf(AGENT_OPERATIONS),
});
type Parsed = z.output<typeof registrationBody>;
export type WebhookRegistration = { readonly [Field in keyof Parsed]: Readonly<Parsed[Field]> };

function listOf<Word extends string>(words: readonly Word[]) {
  const message = `must be a list of ${words.join(', ')}; it may be left out`;
  return z.array(z.enum(words, message), message).max(words.length, message).default([]).describe('All if left out.');
}
