import { Command, CommanderError, InvalidArgumentError } from 'commander';

import { KIT_SETTINGS_USAGE } from '../settings/kit-settings-usage.js';
import type { ChatArguments } from './read-settings.js';
import type { ChatOptions } from './run-chat.js';

export const CHAT_SETTINGS_HELP = `
Settings are environment variables; what is missing is asked for.

  RPC_URL             JSON-RPC endpoint of the chain
${KIT_SETTINGS_USAGE}
  MODEL_PROVIDER      as --model, which takes precedence
  MODEL_NAME          the model; each provider has a default
  MODEL_BASE_URL      another address of the provider, or of an OpenAI-compatible server
  MODEL_API_KEY       the provider's key, or MODEL_API_KEY_FILE. Without a model each line is a
                      command, as \`help\` lists them

Exit codes: 0 ended; 1 it could not start; 2 wrong usage or settings; 130 ended by Ctrl-C or a signal.`;

/** The chat's command, as a program of its own and below `tollgate`. It reports wrong usage on its terminal. */
export function createChatCommand(
  output: NodeJS.WritableStream,
  chat: (args: ChatArguments) => Promise<void>,
): Command {
  return new Command('tollgate-chat')
    .summary("the agent kit's operations, one line at a time or through a model")
    .description(
      "A command line for the agent kit's operations, and with --model a model that has them as its tools: balances, " +
        'swaps, staking, lending, perps, payments. It shows the plan of everything that would be sent, and asks first. ' +
        '`help` lists the commands, `bye` ends it.',
    )
    .option(
      '--model <name>',
      'openai, anthropic, google, groq, mistral, cohere or offline, each with an optional :model after it, or the ' +
        "https://…/v1 address of a server that speaks OpenAI's chat completions",
      parseModel,
    )
    .option('-y, --yes', 'send without asking')
    .option('--read-only', 'send nothing')
    .helpOption('-h, --help', 'show this')
    .addHelpText('after', CHAT_SETTINGS_HELP)
    .addHelpText(
      'after',
      ({ command }) => `\nExample: ${command.parent ? 'tollgate ' : ''}${command.name()} --read-only`,
    )
    .configureOutput({
      writeOut: (text) => output.write(text),
      writeErr: (text) => output.write(text.replace(/^error: /, '')),
    })
    .showHelpAfterError('See --help.')
    .exitOverride()
    .action(({ model = null, yes = false, readOnly = false }: Partial<ChatArguments>) =>
      chat({ model, yes, readOnly }),
    );
}

/** Runs the chat's command line; resolves with its exit code. */
export async function runChatCommand(argv: readonly string[], options: ChatOptions): Promise<number> {
  let exitCode = 0;
  const command = createChatCommand(options.streams.output, async (args) => {
    const { runChat } = await import('./run-chat.js');
    exitCode = await runChat(args, options);
  });
  try {
    await command.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

/** The chat's terminal is this process's; a signal stops it, and a second one ends the process. */
export function chatOfThisProcess(): ChatOptions {
  const stop = new AbortController();
  const leave = () => {
    // A second signal, or a turn that does not end.
    if (stop.signal.aborted) process.exit(130);
    stop.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, leave);
  return {
    env: process.env,
    streams: { input: process.stdin, output: process.stdout },
    stop: stop.signal,
    leaveAtOnce: () => process.exit(130),
  };
}

/** Chats on this process's terminal, and ends the process. */
export async function chatInThisProcess(args: ChatArguments): Promise<never> {
  const { runChat } = await import('./run-chat.js');
  process.exit(await runChat(args, chatOfThisProcess()));
}

function parseModel(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty.');
  return text;
}
