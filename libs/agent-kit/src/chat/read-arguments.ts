/** A setting or an answer to a question that the chat cannot start without is missing or wrong. */
export class UsageError extends Error {}

export interface ChatArguments {
  model: string | null;
  yes: boolean;
  readOnly: boolean;
}
