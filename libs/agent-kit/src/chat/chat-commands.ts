import type { Operation } from '../operations/operation.js';
import type { ChatCommand } from './chat-session.js';
import type { Terminal } from './terminal.js';

/** What a line with a slash does; the model sees nothing of it. */
export function createChatCommands(
  operations: readonly Operation[],
  terminal: Terminal,
): Readonly<Record<string, ChatCommand>> {
  const commands: Record<string, ChatCommand> = {
    '/help': {
      about: 'what can be said here',
      run: () => {
        const lines = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(8)} ${about}`);
        terminal.print(
          [
            'Say what you want: "what is my balance", "swap 1 USDC to WSEI", "stake 2", "supply 10 USDC and borrow 3".',
            '"help" gives more examples.',
            'Everything that would be sent is shown first. Ctrl-C stops an answer; bye, Ctrl-D or Ctrl-C at the prompt ends.',
            ...lines,
          ].join('\n'),
        );
      },
    },
    '/tools': {
      about: 'the operations the model can use; * sends transactions',
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
