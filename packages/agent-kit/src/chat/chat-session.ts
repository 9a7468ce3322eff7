import { LeftError } from './read-settings.js';
import type { SentTransactions } from './sent-transactions.js';
import type { Terminal } from './terminal.js';
import type { TurnControl } from './turn-control.js';

export interface ChatCommand {
  about: string;
  run: () => void | Promise<void>;
}

export interface ChatSession {
  /** Answers one line on the terminal. Throws `LeftError` when the person typed `bye` at a question. */
  answer: (text: string, signal: AbortSignal) => Promise<void>;
  terminal: Terminal;
  turns: TurnControl;
  sent: SentTransactions;
  /** By name, with the slash. */
  commands: Readonly<Record<string, ChatCommand>>;
  explainError: (error: unknown) => string;
  /** Ends the process now. */
  leaveAtOnce: () => void;
}

/** Whether the line ends the chat: `bye` in any case, with any punctuation. */
export function isFarewell(line: string): boolean {
  return /^[^\p{L}\p{N}]*(bye|exit|quit)[^\p{L}\p{N}]*$/iu.test(line);
}

/**
 * Reads and answers line by line; resolves when the person leaves. Ctrl-C stops a turn first, a second one the program.
 */
export async function runSession(session: ChatSession): Promise<void> {
  const { terminal, commands } = session;
  terminal.onInterrupt(() => interrupt(session));
  for (;;) {
    terminal.print('');
    const line = await terminal.ask('> ', { remembered: true });
    if (line === null || isFarewell(line)) break;
    const text = line.trim();
    if (text === '') continue;
    if (!text.startsWith('/')) {
      if (!(await takeTurn(text, session))) break;
    } else if (commands[text]) await commands[text].run();
    else terminal.print(`There is no ${text}: /help lists the commands.`);
  }
  terminal.print('Bye.');
}

/** False when the person has left meanwhile. */
async function takeTurn(text: string, { answer, terminal, turns, sent, explainError }: ChatSession): Promise<boolean> {
  sent.forget();
  const signal = turns.begin();
  try {
    await answer(text, signal);
  } catch (error) {
    if (error instanceof LeftError) return false;
    if (!signal.aborted) terminal.print(explainError(error));
  } finally {
    turns.end();
  }
  if (signal.aborted) terminal.print(describeStop(sent));
  return true;
}

function interrupt({ terminal, turns, sent, leaveAtOnce }: ChatSession): void {
  // At the prompt the same Ctrl-C ends the input, and with it the session.
  if (!turns.isRunning) return;
  const open = sent.list().filter(({ isConfirmed }) => !isConfirmed);
  const names = open.map(({ transaction: { hash, label } }) => `\n  ${hash}  ${label}`).join('');
  if (turns.isStopped) {
    if (names !== '') terminal.print(`Sent, confirmation unknown:${names}`);
    leaveAtOnce();
    return;
  }
  terminal.print(
    names === ''
      ? 'Stopping…'
      : `Stopping; waiting for transactions that were sent (Ctrl-C again leaves at once):${names}`,
  );
  turns.stopTurn();
}

function describeStop(sent: SentTransactions): string {
  const lines = sent.list().map(({ transaction: { hash, label }, isConfirmed }) => {
    return `\n  ${hash}  ${label} (${isConfirmed ? 'confirmed' : 'confirmation unknown'})`;
  });
  return lines.length === 0 ? 'Stopped. Nothing was sent.' : `Stopped. Sent before that:${lines.join('')}`;
}
