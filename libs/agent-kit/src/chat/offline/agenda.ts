import type { Intent, Misunderstanding, Remark } from './intent.js';

/** What waits for an answer of the person. */
export type Pending =
  | { kind: 'slot'; intents: Intent[]; index: number; slot: string }
  | { kind: 'confirm'; intents: Intent[] }
  /** `words` is the clause whose place was not named. */
  | { kind: 'place'; words: string; operations: readonly string[]; before: Intent[]; after: Intent[] };

/** What a message leads to: things to do, things to say, and perhaps a question. */
export interface Agenda {
  intents: Intent[];
  remarks: Remark[];
  misunderstandings: Misunderstanding[];
  /** `"USCD" as USDC`, where something was misspelt. */
  readAs: string[];
  /** Said before everything else. */
  preface: string[];
  pending: Pending | null;
  /** The pending question is an older one that this message did not touch. */
  isStillPending: boolean;
}

/** What the next message can refer to. */
export interface ConversationState {
  pending: Pending | null;
  previous: Intent | null;
  /** Whether the previous operation went through. */
  isPreviousDone: boolean;
}

export const createAgenda = (parts: Partial<Agenda> = {}): Agenda => ({
  intents: [],
  remarks: [],
  misunderstandings: [],
  readAs: [],
  preface: [],
  pending: null,
  isStillPending: false,
  ...parts,
});
