import type { Hex } from 'viem';

import type { AgentKit } from '../agent-kit.js';
import type { Operation } from '../operations/define/operation.js';
import type { JsonObject } from '../tools/safe-json.js';
import type { Plan } from '../types/plan.js';
import type { SentTransaction } from '../types/transaction-events.js';
import type { ChatAgent } from './chat-agent.js';
import { omitAnswer, showPaidAnswer } from './commands/summary.js';
import { LeftError } from './read-settings.js';
import type { Terminal } from './terminal.js';

interface SentTransactions {
  /** The transactions sent since `forget`, and whether each is known to be on the chain. */
  list(): readonly { transaction: SentTransaction; isConfirmed: boolean }[];
  forget(): void;
}

/** Records the transactions that the kit sends, and reports each as it happens. */
export function watchTransactions(kit: Pick<AgentKit, 'on'>, show: (line: string) => void): SentTransactions {
  const sent = new Map<Hex, { transaction: SentTransaction; isConfirmed: boolean }>();
  kit.on('transactionSubmitted', (transaction) => {
    sent.set(transaction.hash, { transaction, isConfirmed: false });
    show(`  sent ${transaction.hash}  ${transaction.label}`);
  });
  kit.on('transactionConfirmed', (transaction) => {
    sent.set(transaction.hash, { transaction, isConfirmed: true });
    show(`  confirmed ${transaction.hash}`);
  });
  kit.on('lowBalance', ({ balance }) =>
    show(`  The native balance is low: ${balance}. Fees of the chain are paid from it.`),
  );
  return { list: () => [...sent.values()], forget: () => sent.clear() };
}

/** The running turn, if any, and whether a stop was requested. */
export class TurnControl {
  #turn: AbortController | null = null;

  constructor(private readonly stop: AbortSignal) {
    stop.addEventListener('abort', () => this.#turn?.abort());
  }

  get isRunning(): boolean {
    return this.#turn !== null;
  }

  get isStopped(): boolean {
    return this.#turn?.signal.aborted ?? this.stop.aborted;
  }

  begin(): AbortSignal {
    this.#turn = new AbortController();
    if (this.stop.aborted) this.#turn.abort();
    return this.#turn.signal;
  }

  stopTurn(): void {
    this.#turn?.abort();
  }

  end(): void {
    this.#turn = null;
  }
}

interface ChatSession {
  /** Answers one line on the terminal. Throws `LeftError` when the person typed `bye` at a question. */
  answer: (text: string, signal: AbortSignal) => Promise<void>;
  terminal: Terminal;
  turns: TurnControl;
  sent: SentTransactions;
  /** What each of the chat's own commands prints, by its name with the slash. */
  commands: Readonly<Record<string, string>>;
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
    if (text.startsWith('/')) terminal.print(commands[text] ?? `There is no ${text}: /help lists the commands.`);
    else if (!(await takeTurn(text, session))) break;
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

/** The answers to lines that begin with a slash, which no model gets. The usage is in the guide. */
export function createChatCommands(operations: readonly Operation[], guide: string): ChatSession['commands'] {
  const help = [
    guide,
    'Everything that would be sent is shown first. Ctrl-C stops an answer; bye, Ctrl-D or Ctrl-C at the prompt ends.',
    '  /help    how to use this',
    '  /tools   the operations; * sends transactions',
  ];
  const tools = operations.map(({ name, title, readOnly }) => `  ${readOnly ? ' ' : '*'} ${name.padEnd(24)} ${title}`);
  return { '/help': help.join('\n'), '/tools': tools.join('\n') };
}

interface ConfirmOptions {
  yes: boolean;
  readOnly: boolean;
  /** Whether the turn of the plan was stopped meanwhile. */
  isStopped: () => boolean;
}

/**
 * Shows a plan, and asks whether to send it. Only a typed yes approves it; without a person at a terminal it is not
 * sent.
 */
export async function confirmPlan(plan: Plan, terminal: Terminal, options: ConfirmOptions): Promise<boolean> {
  if (options.isStopped()) return false;
  terminal.print(`\n${indent(plan.preview)}\n`);
  // The executor refuses, and reports the reason.
  if (options.readOnly) return true;
  if (options.yes) {
    terminal.print('Sent without asking (--yes).');
    return true;
  }
  if (!terminal.isInteractive) {
    terminal.print('Not sent: there is no terminal to confirm on. --yes sends without asking.');
    return false;
  }
  const answer = await terminal.ask('Send this? [y/N] ', { fresh: true });
  return answer !== null && /^y(es)?$/i.test(answer.trim()) && !options.isStopped();
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

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
