import { Command } from 'commander';

import { TOOLSETS } from '../operations/toolsets.js';
import { KIT_SETTINGS_USAGE } from '../settings/kit-settings-usage.js';
import type { McpArguments } from './run-mcp.js';

export const MCP_SETTINGS_HELP = `
Settings, as environment variables (or NAME_FILE with the path of a file that holds it):

  RPC_URL             JSON-RPC endpoint of the chain
  MCP_KEY             with --http: what clients send as bearer token, at least 16 characters
${KIT_SETTINGS_USAGE}

Without RPC_URL it uses the devnet that runs here (npm run dev).

Exit codes: 0 the client disconnected, or a signal stopped it; 1 the MCP SDK is not installed; 2 wrong usage or settings.`;

/** The MCP server's command, as a program of its own and below `tollgate`. */
export function createMcpCommand(serve: (args: McpArguments) => Promise<void>): Command {
  return (
    new Command('tollgate-mcp')
      .summary("the agent kit's operations as tools, over MCP")
      .description(
        "A Model Context Protocol server on stdin and stdout, or over HTTP: the agent kit's operations as tools, on the " +
          'account of a wallet. Messages for people go to stderr.',
      )
      .option('--read-only', 'offer no tool that sends transactions')
      .option(
        '--yes',
        'send without a confirmation; without this option the user confirms each plan in the client (elicitation), and ' +
          'nothing is sent for a client that cannot ask',
      )
      .option(
        '--execute-plans',
        "offer executePlan, which sends a plan that a plan tool has shown; the client's own dialog shows its summary. " +
          'With a client that approves tools automatically, this has the effect of --yes',
      )
      .option(
        '--toolsets <list>',
        `only the tools of these, separated by commas: ${TOOLSETS.join(', ')}. Without it all that POLICY_FILE allows`,
      )
      .option('--http <port>', 'serve over streamable HTTP at /mcp of this port, for clients that have MCP_KEY')
      .option('--host <address>', 'with --http: the address to listen at; default 127.0.0.1')
      .helpOption('--help', 'show this')
      .addHelpText('after', MCP_SETTINGS_HELP)
      .addHelpText(
        'after',
        ({ command }) => `\nExample: ${command.parent ? 'tollgate ' : ''}${command.name()} --read-only`,
      )
      // A client shows one line of an error, so every problem is in it.
      .allowUnknownOption()
      .allowExcessArguments()
      .action((options: Omit<McpArguments, 'unknown'>, command: Command) =>
        serve({ ...options, unknown: command.args }),
      )
  );
}

/** Serves on this process's stdin and stdout, and ends it. */
export async function serveThisProcess(args: McpArguments): Promise<never> {
  // Only protocol messages may reach stdout, also when a package writes to the console.
  console.log = console.info = console.debug = console.error;
  const stopRequest = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
  });
  const { runMcp } = await import('./run-mcp.js');
  const { stdin, stdout } = process;
  const stderr = (line: string) => void process.stderr.write(`${line}\n`);
  process.exit(await runMcp(args, process.env, { stdin, stdout, stderr, stopRequest }));
}
