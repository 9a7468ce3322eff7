/** The part `numerator / denominator` of a balance; all of it is 1/1. Big integers, so that a computed amount is exact. */
export interface Share {
  numerator: bigint;
  denominator: bigint;
}

export type SlotValue = string | number;

/** One operation of the catalog with what the words said about its inputs. */
export interface Intent {
  operation: string;
  input: Record<string, SlotValue>;
  /** Amounts that are a part of a balance, which has to be read first. */
  shares: Record<string, Share>;
  /** Slots that are needed and were not said, in the order to ask for them. */
  missing: string[];
  /** What is known of something that has to be looked up: `{side: 'short'}`, `{tokens: 'USDC WSEI'}`, `{amount: 'received'}`. */
  wanted?: Readonly<Record<string, string>>;
  /** Why a slot is still missing although something was said, or what to look at before it is done. */
  problems: string[];
  /** What a swap that was carried out has brought, where its result told. */
  received?: string;
}

/** Something that is answered in words alone. */
export type Remark =
  | { kind: 'greeting' | 'thanks' | 'help' | 'nothing' }
  | { kind: 'explain'; operation: string; intent?: Intent }
  | { kind: 'portfolio' };

/** A clause that means several operations: the place of a deposit or withdrawal was not named. */
export interface Ambiguity {
  words: string;
  operations: readonly string[];
}

/** A part of the text that is no request this grammar knows, or one that it refuses. */
export interface Misunderstanding {
  part: string;
  reason: string;
  /** Operations near what was meant, for examples. */
  near: readonly string[];
}

export type Item =
  | { type: 'intent'; intent: Intent; doubts: string[]; readAs: string[] }
  | { type: 'remark'; remark: Remark }
  | { type: 'ambiguity'; ambiguity: Ambiguity }
  | { type: 'misunderstanding'; misunderstanding: Misunderstanding };

/** What the words of one message mean, in the order of the words. */
export interface Understanding {
  items: Item[];
}
