import type { JsonObject } from '../tools/safe-json.js';
import type { ChatAgent } from './chat-agent.js';
import { showPaidAnswer, omitAnswer } from './commands/summary.js';
import type { Terminal } from './terminal.js';

// Results are cut for the model too; this fills a page or two of a terminal.
const MAX_SHOWN_LENGTH = 20_000;

/** Runs a turn, and shows it as it goes: the model's text, each tool's name and inputs, and its result as JSON. */
export async function showTurn(agent: ChatAgent, terminal: Terminal, text: string, signal: AbortSignal): Promise<void> {
  let isTextOpen = false;
  let hasAnswer = false;
  const listener = {
    onText: (piece: string) => {
      if (!isTextOpen) terminal.print('');
      isTextOpen = true;
      hasAnswer = true;
      terminal.write(piece);
    },
    onToolCall: (name: string, input: unknown) => {
      isTextOpen = false;
      hasAnswer = false;
      terminal.print(`\n${name} ${JSON.stringify(input)}`);
    },
    onToolResult: (content: string) => {
      const result = JSON.parse(content) as JsonObject;
      terminal.print(indentJson(omitAnswer(result)) + showPaidAnswer(result['answer']));
    },
  };
  await agent.say(text, listener, signal);
  if (!signal.aborted && !hasAnswer) terminal.print('(The model returned no text.)');
}

function indentJson(result: JsonObject): string {
  const text = JSON.stringify(result, null, 2);
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}\n… (cut)`;
}
