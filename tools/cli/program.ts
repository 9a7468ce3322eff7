import { CommanderError } from 'commander';

import { chatInThisProcess, createChatCommand } from '../../packages/agent-kit/src/chat/chat-command.js';
import { createMcpCommand, serveThisProcess } from '../../packages/agent-kit/src/cli/mcp-command.js';
import { createPayCommand, processTerminal } from '../../packages/client/src/cli/pay-command.js';
import { defineBackup } from './backup/command.js';
import { defineBook } from './book/command.js';
import { defineJobs } from './jobs/command.js';
import { defineKeys } from './keys/command.js';
import { definePaymentWebhooks } from './payment-webhooks/command.js';
import { definePayments } from './payments/command.js';
import { defineRefunds } from './refunds/command.js';
import { CliCommand, EXIT_CODES } from './shared/cli-command.js';
import { defineWallets } from './wallets/command.js';
import { defineWebhooks } from './webhooks/command.js';

export interface Surroundings {
  env: NodeJS.ProcessEnv;
  stdout: (text: string) => void;
  stderr: (text: string) => void;
}

/** Every command of `tollgate`. An action's dependencies are loaded when it runs, so that `--help` is fast. */
export function createProgram(surroundings: Surroundings, end: (exitCode: number) => void): CliCommand {
  const { env, stdout, stderr } = surroundings;
  const program = new CliCommand('tollgate')
    .description('Operates a Tollgate installation, pays for requests, and serves agents.')
    .configureOutput({ writeOut: stdout, writeErr: stderr })
    .exitOverride()
    .commandsGroup('For operators:');
  definePayments(program, env);
  defineJobs(program, env);
  defineKeys(program, env);
  defineWallets(program, env);
  defineWebhooks(program, env);
  defineBackup(program, env);
  defineBook(program, env);
  defineRefunds(program, env);
  definePaymentWebhooks(program, env);
  for (const command of program.commands) command.addHelpText('afterAll', EXIT_CODES);
  program.commandsGroup('For payers and agents:');
  program.addCommand(createPayCommand({ env, terminal: processTerminal, end }).name('pay'));
  program.addCommand(createChatCommand(process.stdout, chatInThisProcess).name('chat'));
  program.addCommand(createMcpCommand(serveThisProcess).name('mcp'));
  program.commandsGroup('Help:').helpCommand('help [command]', 'shows the help of a command');
  return program.addHelpText('after', `\n\`tollgate <command> --help\` shows options, examples and exit codes.`);
}

/** Runs a command line; resolves with its exit code, as the command's help lists them. */
export async function runTollgate(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  let exitCode = 0;
  try {
    await createProgram(surroundings, (code) => (exitCode = code)).parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has printed the error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    surroundings.stderr(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
