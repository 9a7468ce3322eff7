import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface Outcome {
  kind: 'success' | 'failed' | 'declined';
  /** What the tool said, as data; text that is no JSON object is under `text`. */
  data: JsonObject;
}

export interface Call {
  name: string;
  args: JsonObject;
  /** Null until the tool has answered. */
  outcome: Outcome | null;
}

/** One message of the person and the tool calls that came of it. */
export interface Turn {
  text: string;
  calls: Call[];
}

const GOOD = new Set(['success', 'signed', 'pending']);
const DECLINED = new Set(['declined', 'cancelled', 'rejected']);

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseContent(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : { items: value };
  } catch {
    return { text };
  }
}

function readOutcome(message: ToolMessage): Outcome {
  const data = parseContent(message.text);
  const { status } = data;
  if (typeof status === 'string') {
    const kind = GOOD.has(status) ? 'success' : DECLINED.has(status) ? 'declined' : 'failed';
    return { kind, data };
  }
  if (message.status !== 'error') return { kind: 'success', data };
  // A person's refusal comes as plain text where the agent asks for approval by itself.
  const text = typeof data.text === 'string' ? data.text : '';
  return { kind: /\b(?:rejected|declined|denied)\b/i.test(text) ? 'declined' : 'failed', data: { error: text } };
}

/** The conversation as turns; what stands before the person's first words is left out. */
export function readTurns(messages: readonly BaseMessage[]): Turn[] {
  const turns: Turn[] = [];
  const open = new Map<string, Call>();
  for (const message of messages) {
    if (HumanMessage.isInstance(message)) turns.push({ text: message.text, calls: [] });
    else if (AIMessage.isInstance(message)) {
      for (const { id, name, args } of message.tool_calls ?? []) {
        const call: Call = { name, args, outcome: null };
        if (id !== undefined) open.set(id, call);
        turns.at(-1)?.calls.push(call);
      }
    } else if (ToolMessage.isInstance(message)) {
      const call = open.get(message.tool_call_id);
      if (call) call.outcome = readOutcome(message);
    }
  }
  return turns;
}
