import type { Operation } from '../operations/define/operation.js';
import type { ChatCommand } from './chat-session.js';
import type { Terminal } from './terminal.js';

/** Runs a line that begins with a slash, without the model. The usage is in the guide. */
export function createChatCommands(
  operations: readonly Operation[],
  terminal: Terminal,
  guide: string,
): Readonly<Record<string, ChatCommand>> {
  const commands: Record<string, ChatCommand> = {
    '/help': {
      about: 'how to use this',
      run: () => {
        const lines = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(8)} ${about}`);
        terminal.print(
          [
            guide,
            'Everything that would be sent is shown first. Ctrl-C stops an answer; bye, Ctrl-D or Ctrl-C at the prompt ends.',
            ...lines,
          ].join('\n'),
        );
      },
    },
    '/tools': {
      about: 'the operations; * sends transactions',
      run: () => {
        const lines = operations.map(
          ({ name, title, readOnly }) => `  ${readOnly ? ' ' : '*'} ${name.padEnd(24)} ${title}`,
        );
        terminal.print(lines.join('\n'));
      },
    },
  };
  return commands;
}
