import { Command, CommanderError } from 'commander';

import type { PayOptions } from './read-arguments.js';
import type { PayTerminal } from './run-pay.js';
import { writeStdoutFile } from './write-stdout-file.js';

export interface PayProcess {
  env: NodeJS.ProcessEnv;
  terminal: PayTerminal;
  /** Called with the exit code. */
  end: (exitCode: number) => void;
}

/** An unknown option is shown without its value, which may be a secret. */
const UNKNOWN_VALUE = /^(unknown option '[^'=]*)=[^]*?'/;

const createNotes = (name: string): string => `
A payment stays in the store until its whole answer is written: the same command again redeems it and does not pay
twice.

TOLLGATE_STATE_DIR is where payments are kept (default the user's state folder, such as ~/.local/state/tollgate), and
where a running devnet is found and its payments are kept (default .tollgate).

Example, with the private key in WALLET_PRIVATE_KEY:
  ${name} https://api.example/report --max 0.01 --rpc https://rpc.example

Exit codes: 0 answered; 1 unexpected error; 2 wrong usage; 3 nothing was paid; 4 paid, but no answer yet: run it
again; 5 answered with a status of 400 or more: the last line says whether the payment is still good.`;

const collect = (text: string, others: string[] = []): string[] => [...others, text];

/** The pay command, as a program of its own and below \`tollgate\`. Its action loads the code that pays. */
export function createPayCommand({ env, terminal, end }: PayProcess): Command {
  return new Command('tollgate-pay')
    .summary('pays for one request and writes its answer')
    .description(
      "Requests the URL, pays its 402 challenge once, and writes the answer's body to stdout. Without a challenge it " +
        'pays nothing. Progress goes to stderr.',
    )
    .usage('URL --max AMOUNT [options]')
    .argument('<url>', 'the resource to request')
    .optionsGroup('What to pay:')
    .option('--max <amount>', 'maximum price, in units of the token, e.g. 0.01 (required)')
    .option('--network <name>', 'trusted network name (default chain-testnet, with --chain-id that of the known chain)')
    .option('--chain-id <id>', 'its chain id (default 1328)')
    .option('--asset <address>', 'trusted token (default 0x4fCF1784B31630811181f670Aea7A7bEF803eaED, USDC)')
    .option('--decimals <n>', "the token's decimals (default 6)")
    .option('--pay-to <address>', 'pay this recipient only')
    .option(
      '--also <fields>',
      "another token, or one on another chain, paid where no earlier one can be: 'chain-id=84532 rpc=https://… " +
        "asset=0x… decimals=18 network=… pay-to=0x… max=0.00001'. rpc is for a chain that no option has named yet, the " +
        'fields of known chains and their USDC may be left out, and without max it is --max; may be repeated',
      collect,
    )
    .option(
      '--approve <amount>',
      'approve Permit2 for this amount of the token, in a transaction of its own, if a payment needs it. Metered ' +
        'routes are paid by Permit2, with --max as the signed maximum. Without an allowance and without this option, ' +
        'the full price of a metered route is paid',
    )
    .optionsGroup('Wallet:')
    .option('--rpc <url>', 'JSON-RPC endpoint of the chain')
    .option('--rpc-timeout <seconds>', 'seconds to wait for one of its answers; each call is tried twice (default 3)')
    .option('--key-env <name>', 'environment variable with the private key (default WALLET_PRIVATE_KEY)')
    .option(
      '--dev',
      'take endpoint, chain, token and an account from the running devnet (its dev.json), and pay its ' +
        "gateway's recipient only, or that of --pay-to; not with --network, --chain-id, --asset or --key-env",
    )
    .optionsGroup('Request:')
    .option('--method <method>', 'default GET, or POST with a body')
    .option('--header <line>', "'Name: value'; may be repeated", collect)
    .option('--body <text>', 'or @FILE')
    .option(
      '--idempotency-key <key>',
      'names this request: a repeat gets the same answer and never pays again, and any other request is refused',
    )
    .optionsGroup('Behaviour:')
    .option(
      '--store <dir>',
      'where payments are kept (default a folder of the payer below payments in TOLLGATE_STATE_DIR)',
    )
    .option('--timeout <seconds>', 'seconds from the payment to the answer (default 60)')
    .option('--insecure', 'pay over plain HTTP to other machines too')
    .option('--json', 'write one JSON document: status, contentType, body or bodyBase64, payment, taken')
    .option('--abandon', 'give up the stored payment of this request, and pay nothing')
    .helpOption('-h, --help', 'show this')
    .addHelpText('after', ({ command }) => createNotes(`${command.parent ? 'tollgate ' : ''}${command.name()}`))
    .configureOutput({
      writeOut: (text) => void terminal.stdout(text),
      writeErr: (text) =>
        terminal.stderr(
          text
            .trimEnd()
            .replace(/^error: /, '')
            .replace(UNKNOWN_VALUE, "$1'"),
        ),
    })
    .showHelpAfterError('See --help.')
    .exitOverride()
    .action(async (url: string, options: PayOptions, command: Command) => {
      const { payOnce } = await import('./run-pay.js');
      end(await payOnce(url, options, { command, env, terminal }));
    });
}

/** Runs the command line of the pay command; resolves with its exit code. Writes no key, whatever goes wrong. */
export async function runPay(argv: readonly string[], env: NodeJS.ProcessEnv, terminal: PayTerminal): Promise<number> {
  let exitCode = 0;
  const command = createPayCommand({ env, terminal, end: (code) => (exitCode = code) });
  try {
    await command.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

/** The terminal of this process. Where stdout's reader is gone, as `head` is at its end, the rest is dropped. */
export const processTerminal: PayTerminal = {
  showsStdout: process.stdout.isTTY,
  // Waits for the pipe: a long answer must neither fill the memory nor be cut off at the exit.
  stdout: async (bytes) => {
    if (writeStdoutFile(bytes)) return;
    await new Promise<void>((resolve, reject) => {
      // The stream reports a failed write as an event too, which would end the process if nothing listened.
      if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => undefined);
      process.stdout.write(bytes, (error) => {
        if (error && (error as NodeJS.ErrnoException).code !== 'EPIPE') reject(error);
        else resolve();
      });
    });
  },
  stderr: (line) => process.stderr.write(`${line}\n`),
};
