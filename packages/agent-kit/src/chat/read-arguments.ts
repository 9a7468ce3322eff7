/** A required setting, or the answer to a question at the start, is missing or wrong. */
export class UsageError extends Error {}

export interface ChatArguments {
  model: string | null;
  yes: boolean;
  readOnly: boolean;
}
