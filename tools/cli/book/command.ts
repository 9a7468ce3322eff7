import { Option } from 'commander';

import { limitOption, operatorOption, type CliCommand } from '../shared/cli-command.js';
import type { BookedOptions, ExportOptions } from './book.js';
import type { ProofOptions } from './check-proof-file.js';
import type { OperatorPlace } from './operator-api.js';
import type { ReconcileOptions } from './reconcile.js';

/** `tollgate book`, `export`, `prove`, `reconcile` and `verify-proof` */
export function defineBook(program: CliCommand, env: NodeJS.ProcessEnv): void {
  const load = () => import('./book.js');
  const book = program.command('book').summary('the book: balances, closings, and whether it is whole');
  book
    .description('Asks the bookkeeper about the book.')
    .addHelpText('after', describeKey('the scope operator:read, to close and to forget operator:approve'));

  ask(book, 'balances', 'Shows the balance of each account: debits positive, credits negative.')
    .example('book balances')
    .answers(async (options: OperatorPlace) => (await load()).showBalances(options, env));

  ask(book, 'payments', 'Lists the payments in the book: what was paid for which route, by whom, newest first.')
    .option('--owed', 'only those that bought nothing and were not paid back whole')
    .option('--state <states>', 'only those in one of these states, separated by commas')
    .option('--route <path>', 'only those for this route, as the routes file writes it')
    .option('--payer <address>', 'only those of this account')
    .option('--option <name>', 'only those in the token of this payment option')
    .addOption(limitOption(200))
    .example('book payments --owed')
    .answers(async (options: BookedOptions) => (await load()).listBooked(options, env));

  ask(book, 'verify', 'Recomputes the hash chain and the signatures of the closings; names the first broken row.')
    .example('book verify')
    .answers(async (options: OperatorPlace) => (await load()).verify(options, env));

  ask(book, 'close', 'Closes and signs what has been booked so far, without waiting for the end of the day.')
    .example('book close')
    .answers(async (options: OperatorPlace) => (await load()).close(options, env));

  ask(
    book,
    'forget',
    'Removes the request data of payments older than so many months. Amounts, entries and proofs stay.',
  )
    .addOption(new Option('--months <n>', 'of payments to which nothing has happened since').makeOptionMandatory())
    .example('book forget --months 6')
    .answers(async (options: OperatorPlace & { months: string }) => (await load()).forget(options, env));

  ask(program, 'prove', 'Writes what was booked for a payment to a file, provable without the database.')
    .argument('<payment>', "the payment's id, as payments list prints it with its slot")
    .requiredOption('--out <file>', 'a new file')
    .summary('a file that proves what was booked for a payment')
    .example('prove tx:1328:0x…:0 --out proof.json')
    .answers(async (payment: string, options: OperatorPlace & { out: string }) =>
      (await load()).prove(payment, options, env),
    );

  program
    .command('verify-proof')
    .summary('checks such a file, offline')
    .description('Checks a file of tollgate prove against a root or a key that you know by other means. Works offline.')
    .argument('<file>', 'a file of tollgate prove')
    .option('--root <hash>', "a closing's Merkle root, 64 hexadecimal digits")
    .option('--key <address>', 'the address whose signature the closings have')
    .option('--json', 'print one JSON document')
    .example('verify-proof proof.json --key 0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
    .answers(async (file: string, options: ProofOptions) =>
      (await import('./check-proof-file.js')).checkProofFile(file, options),
    );

  ask(
    program,
    'reconcile',
    'Compares the book with the chain: what is on the chain only, in the book only, or different.',
  )
    .summary('what chain and book do not agree on')
    .option('--from <time>', 'differences from this day or time, UTC')
    .option('--to <time>', 'differences before this day or time, UTC')
    .addHelpText('after', '\nThe exit code is 1 when there is a difference, and when the chain could not be read.')
    .example('reconcile --from 2026-11-01 --to 2026-12-01')
    .action(async (options: ReconcileOptions, command: CliCommand) => {
      await (await import('./reconcile.js')).reconcile(options, env, (text) => command.print(text));
    });

  const exports = program.command('export').summary('payments or entries as CSV or JSON lines');
  exports
    .description('Prints all payments or entries of a time, oldest first.')
    .addHelpText('after', describeKey('the scope operator:read'));
  for (const table of ['payments', 'entries'] as const) {
    exports
      .command(table)
      .description(`Prints the ${table}. Their columns never change within a schema version.`)
      .addOption(operatorOption())
      .option('--from <time>', 'from this day or time, UTC')
      .option('--to <time>', 'before this day or time, UTC')
      .addOption(new Option('--format <format>', 'of the output').choices(['csv', 'jsonl']).default('csv'))
      .example(`export ${table} --from 2026-11-01 --to 2026-12-01`)
      .action(async (options: ExportOptions, command: CliCommand) => {
        const parts = (await load()).exportTable(table, options, env);
        const output = command.configureOutput();
        let lines = options.format === 'csv' ? -1 : 0;
        for await (const text of parts) {
          output.writeOut?.(text);
          lines += text.split('\n').length - 1;
        }
        // Not into the output, which programs read.
        if (lines === 0) output.writeErr?.(`The book has no ${table} of that time.\n`);
      });
  }
}

/** The help about the API key. @param needs the scopes, in words */
export function describeKey(needs: string, scope = 'operator:read'): string {
  return `
The API key, in OPERATOR_API_KEY or in the file OPERATOR_API_KEY_FILE, needs ${needs}: tollgate keys create --name me --scope ${scope}
Without key and address it uses those of a running npm run dev.`;
}

/** A subcommand that asks the operator API. */
export function ask(parent: CliCommand, name: string, description: string): CliCommand {
  return parent
    .command(name)
    .description(description)
    .option('--json', 'print one JSON document')
    .addOption(operatorOption());
}
