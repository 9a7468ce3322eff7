import type { ChatAgent, ChatListener } from './chat-agent.js';
import type { Terminal } from './terminal.js';

// Results are cut for the model too; this fills a page or two of a terminal.
const MAX_SHOWN_LENGTH = 20_000;

/** Runs a turn, and shows it as it goes: the model's text, each tool's name and inputs, and its result as JSON. */
export async function showTurn(agent: ChatAgent, terminal: Terminal, text: string, signal: AbortSignal): Promise<void> {
  const shown = createListener(terminal);
  await agent.say(text, shown.listener, signal);
  if (!signal.aborted && !shown.hasAnswer()) terminal.print('(The model returned no text.)');
}

function createListener(terminal: Terminal): { listener: ChatListener; hasAnswer: () => boolean } {
  let isTextOpen = false;
  let hasAnswer = false;
  return {
    hasAnswer: () => hasAnswer,
    listener: {
      onText: (text) => {
        if (!isTextOpen) terminal.print('');
        isTextOpen = true;
        hasAnswer = true;
        terminal.write(text);
      },
      onToolCall: (name, input) => {
        isTextOpen = false;
        hasAnswer = false;
        terminal.print(`\n${name} ${JSON.stringify(input)}`);
      },
      onToolResult: (content) => terminal.print(formatJson(content)),
    },
  };
}

function formatJson(content: string): string {
  let text: string;
  try {
    text = JSON.stringify(JSON.parse(content), null, 2);
  } catch {
    text = JSON.stringify(content);
  }
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}\n… (cut)`;
}
