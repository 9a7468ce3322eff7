import { quoteUntrusted } from '../../tokens/untrusted-text.js';
import { FLAG_ALIASES, type Command } from './commands.js';

export const isSame = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();

/** By the command's name, or by its operation's. */
export function findCommand(name: string, commands: readonly Command[]): Command | undefined {
  return commands.find((command) => isSame(command.name, name) || isSame(command.operation.name, name));
}

// The commands that are not operations.
const OTHERS = [
  { name: 'history', usage: 'history', title: 'The commands of this session and their results' },
  { name: 'help', usage: 'help [command]', title: 'Every input of a command' },
];

/** The inputs of a command, one a line. */
export function describeCommand({ usage, operation, flags }: Command): string {
  const inputs = flags.map(({ field, about }) => {
    const aliases = Object.keys(FLAG_ALIASES).filter((alias) => FLAG_ALIASES[alias] === field);
    return `    ${[field, ...aliases].map((name) => `--${name}`).join(', ')}: ${about}`;
  });
  return [`  ${usage}`, ...inputs, `  ${operation.description}`].join('\n');
}

/** Every command, on one line. */
export function listCommands(commands: readonly Command[]): string {
  const rows = [
    ...commands.map(({ usage, operation: { readOnly, title } }) => [readOnly ? ' ' : '*', usage, title] as const),
    ...OTHERS.map(({ usage, title }) => [' ', usage, title] as const),
  ];
  const width = Math.max(...rows.map(([, usage]) => usage.length));
  return [
    ...rows.map(([mark, usage, title]) => `  ${mark} ${usage.padEnd(width)}  ${title}`),
    '* sends transactions, once you have approved its plan. Missing inputs are asked for; Tab completes a word;',
    '--json at the end of a line shows the result in full. Sentences need a language model, for example --model openai.',
  ].join('\n');
}

/** Reports that the words are no command, and suggests the nearest one, which never runs by itself. */
export function describeNearest(words: readonly string[], commands: readonly Command[]): string {
  const [first = ''] = words;
  const known = [...commands, ...OTHERS];
  const named = known.find(({ name }) => words.some((word) => isSame(word, name)));
  const [close] = [1, 2].flatMap((most) =>
    known.filter(({ name }) => most <= name.length - 2 && isNear(first.toLowerCase(), name, most)),
  );
  const nearest = named ?? close ?? known.find(({ name }) => first.length > 1 && name.startsWith(first.toLowerCase()));
  const what = first === '' ? 'There is no command in this line.' : `There is no command ${quoteUntrusted(first, 60)}.`;
  return `${what} ${nearest ? `Did you mean: ${nearest.usage}` : '"help" lists the commands.'}`;
}

/** Whether at most so many letters have to be put in, left out or replaced. */
function isNear(from: string, to: string, most: number): boolean {
  if (most < 0 || Math.abs(from.length - to.length) > most) return false;
  if (from === '' || to === '') return true;
  const [left, right] = [from.slice(1), to.slice(1)];
  if (from[0] === to[0]) return isNear(left, right, most);
  return isNear(left, to, most - 1) || isNear(from, right, most - 1) || isNear(left, right, most - 1);
}
