import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { styleText } from 'node:util';

export interface Question {
  /** Not shown while it is typed. */
  hidden?: boolean;
  /** The arrow keys bring the answer back. */
  remembered?: boolean;
  /**
   * Only input typed after the question was shown counts, because an approval must not precede the plan it approves.
   */
  fresh?: boolean;
}

type Style = 'dim' | 'green' | 'red' | 'yellow';

/** Lines in, text out. Everything printed goes through `printableText`. */
export interface Terminal {
  /** Whether a person can answer questions. */
  readonly isInteractive: boolean;
  /** A style shows only on a terminal with colours, and where `NO_COLOR` does not forbid them. */
  print(text: string, style?: Style): void;
  /** Without a newline, for text that comes in pieces. */
  write(text: string): void;
  /** The next line; null at Ctrl-C, Ctrl-D, the end of the input, or when the chat is stopped. */
  ask(prompt: string, question?: Question): Promise<string | null>;
  /** The Tab key completes the end of a remembered question's answer to one of these. */
  completeWith(complete: (line: string) => readonly string[]): void;
  /** The handler is called at each Ctrl-C, at any time. */
  onInterrupt(handler: () => void): void;
  close(): void;
}

export interface TerminalStreams {
  input: NodeJS.ReadableStream & Partial<Pick<ReadStream, 'isTTY'>>;
  output: NodeJS.WritableStream & Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'hasColors'>>;
}

const MAX_EARLY_LENGTH = 60;

/** A terminal on two streams; `stop` ends its input as Ctrl-D does. */
export function openTerminal({ input, output }: TerminalStreams, stop: AbortSignal): Terminal {
  const isInteractive = input.isTTY === true;
  const echo = createEcho(output);
  const lines: string[] = [];
  const handlers: (() => void)[] = [];
  let isAtLineStart = true;
  let hasEnded = false;
  let open: { resolve: (line: string | null) => void; question: Question } | null = null;

  let complete: (line: string) => readonly string[] = () => [];

  const readline = createInterface({
    input,
    output: echo.stream,
    terminal: isInteractive,
    completer: (line: string) => [open?.question.remembered ? complete(line) : [], /\S*$/.exec(line)?.[0] ?? ''],
  });
  const hasColours = output.isTTY === true && output.hasColors?.() === true;
  const write = (text: string, style?: Style) => {
    const printable = printableText(text);
    if (printable === '') return;
    output.write(style && hasColours ? styleText(style, printable, { validateStream: false }) : printable);
    isAtLineStart = printable.endsWith('\n');
  };
  const answer = (line: string | null) => {
    const asked = open;
    if (!asked) return;
    open = null;
    echo.isOn = false;
    // The newline that ended the answer was echoed, if anything was.
    if (line === null || asked.question.hidden) output.write('\n');
    isAtLineStart = true;
    asked.resolve(line);
  };
  const end = () => {
    hasEnded = true;
    answer(null);
  };

  readline.on('line', (line) => (open ? answer(line) : lines.push(line)));
  readline.on('history', (history: string[]) => {
    if (open?.question.remembered !== true) history.shift();
  });
  readline.on('SIGINT', () => {
    clearLine(readline);
    for (const handler of handlers) handler();
    answer(null);
  });
  readline.on('close', end);
  // The reader of the output is gone.
  output.on('error', end);
  stop.addEventListener('abort', end, { once: true });

  const show = (prompt: string, line: string, { hidden = false }: Question) => {
    output.write(`${prompt}${hidden ? '' : printableText(line)}\n`);
    isAtLineStart = true;
    return line;
  };

  return {
    isInteractive,
    write: (text) => write(text),
    print: (text, style) => write(`${isAtLineStart ? '' : '\n'}${text}\n`, style),
    ask: (prompt, question = {}) => {
      if (!isAtLineStart) write('\n');
      if (question.fresh && isInteractive) {
        const early = lines.splice(0).map((line) => `"${line.slice(0, MAX_EARLY_LENGTH)}"`);
        if (early.length > 0) write(`Ignored, because it was typed before this question: ${early.join(', ')}\n`);
        clearLine(readline);
      }
      const waiting = stop.aborted ? undefined : lines.shift();
      if (waiting !== undefined) return Promise.resolve(show(prompt, waiting, question));
      if (hasEnded || stop.aborted) return Promise.resolve(null);
      return new Promise((resolve) => {
        if (!isInteractive) {
          open = { question, resolve: (line) => resolve(line === null ? null : show(prompt, line, question)) };
          return;
        }
        open = { question, resolve };
        if (question.hidden) output.write(prompt);
        else echo.isOn = true;
        readline.setPrompt(question.hidden ? '' : prompt);
        readline.prompt(true);
      });
    },
    completeWith: (completer) => (complete = completer),
    onInterrupt: (handler) => void handlers.push(handler),
    close: () => readline.close(),
  };
}

/** Input typed while no question is open, or into a hidden one, is not shown. */
function createEcho(output: TerminalStreams['output']): { stream: Writable; isOn: boolean } {
  const echo = {
    isOn: false,
    stream: new Writable({
      write: (chunk: Uint8Array, _encoding, done) => {
        if (echo.isOn) output.write(chunk);
        done();
      },
    }),
  };
  Object.defineProperty(echo.stream, 'columns', { get: () => output.columns });
  output.on('resize', () => echo.stream.emit('resize'));
  return echo;
}

function clearLine(readline: Interface): void {
  if (!readline.terminal) return;
  readline.write(null, { ctrl: true, name: 'e' });
  readline.write(null, { ctrl: true, name: 'u' });
}

// Everything that moves the cursor, changes colours, reverses the writing direction or hides: C0 but tab and newline, DEL,
// C1, and the bidirectional and zero-width formats. Joiners stay: letters and emoji of many scripts need them.
const UNPRINTABLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

/** Makes text of a model or a chain safe for a terminal by dropping every character that is not printable. */
function printableText(text: string): string {
  return text.replace(UNPRINTABLE, '');
}
