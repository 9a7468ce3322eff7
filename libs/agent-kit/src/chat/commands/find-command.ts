import { quoteUntrusted } from '../../tokens/untrusted-text.js';
import type { Command } from './commands.js';

export const isSame = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();

/** By its name, or by its operation's. */
export function findCommand(name: string, commands: readonly Command[]): Command | undefined {
  return commands.find((command) => isSame(command.name, name) || isSame(command.operation.name, name));
}

// The commands that are no operation.
const OTHERS = [
  { name: 'history', usage: 'history', title: 'The orders of this session, and what became of them' },
  { name: 'help', usage: 'help [command]', title: 'Every input of a command' },
];

/** What a command takes, one input a line. */
export function describeCommand({ usage, operation, flags }: Command): string {
  const width = Math.max(0, ...flags.map(({ field }) => field.length));
  const inputs = flags.map(({ field, about }) => `    --${field.padEnd(width)}  ${about}`);
  return [`  ${usage}`, ...inputs, `  ${operation.description}`].join('\n');
}

/** Every command on a line. */
export function listCommands(commands: readonly Command[]): string {
  const entries = commands.map(({ usage, operation: { readOnly, title } }) => ({
    usage,
    title,
    mark: readOnly ? ' ' : '*',
  }));
  const rows = [...entries, ...OTHERS.map((other) => ({ ...other, mark: ' ' }))];
  const width = Math.max(...rows.map(({ usage }) => usage.length));
  return [
    ...rows.map(({ mark, usage, title }) => `  ${mark} ${usage.padEnd(width)}  ${title}`),
    '* sends transactions, after its plan is shown and agreed to. Missing inputs are asked for; Tab completes a word;',
    '--json at the end of a line shows the result in full. Sentences need a language model, for example --model openai.',
  ].join('\n');
}

// A word that is not a command is at most so many letters away from the command that is suggested.
const MAX_DISTANCE = 2;

/** Says that the words are no command, and which one is nearest. It is only suggested, never run. */
export function describeNearest(words: readonly string[], commands: readonly Command[]): string {
  const [first = ''] = words;
  const known = [...commands, ...OTHERS];
  const named = known.find(({ name }) => words.some((word) => isSame(word, name)));
  const [close] = known
    .map((command) => ({ command, distance: measureDistance(first.toLowerCase(), command.name) }))
    .filter(({ command: { name }, distance }) => distance <= Math.min(MAX_DISTANCE, name.length - 2))
    .sort((one, other) => one.distance - other.distance);
  const nearest = named ?? close?.command;
  const what = first === '' ? 'There is no command in this line.' : `There is no command ${quoteUntrusted(first, 60)}.`;
  return `${what} ${nearest ? `Did you mean: ${nearest.usage}` : '"help" lists the commands.'}`;
}

/** How many letters have to be put in, left out or replaced. */
function measureDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > MAX_DISTANCE) return Infinity;
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1];
    for (const [index, other] of [...to].entries()) {
      const replaced = (row[index] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? Infinity;
}
