import { operatorOption, type CliCommand } from '../shared/cli-command.js';
import type { BackupOptions } from './back-up.js';
import type { RestoreOptions } from './restore.js';

/** `tollgate backup` and `tollgate restore` */
export function defineBackup(program: CliCommand, env: NodeJS.ProcessEnv): void {
  const sayTo = (command: CliCommand) => (line: string) => void command.configureOutput().writeErr?.(`${line}\n`);

  program
    .query('backup', 'Copies ledger, journal, API keys and webhooks into a new file, while the processes go on.')
    .summary('copies Redis, and the book, into files')
    .argument('<file>', 'a new file; stored answers and the requests of jobs are in it, so keep it as you keep Redis')
    .option('--book', 'also copy the book into <file>.book; the API key in OPERATOR_API_KEY needs operator:approve')
    .addOption(operatorOption())
    .example('backup /backups/tollgate-2026-11-25 --book')
    .answers(async (file: string, options: BackupOptions, command: CliCommand) => {
      const { backUp } = await import('./back-up.js');
      return backUp(file, options, env, sayTo(command));
    });

  program
    .query(
      'restore',
      'Writes a backup into a Redis that no process uses. Payments and jobs from after the backup are in doubt then; it ' +
        'says what to do about them.',
    )
    .summary('writes a backup into Redis')
    .argument('<file>', 'made by tollgate backup')
    .option('--check', 'only check the file, and whether it can be restored here; write nothing')
    .option('--replace', 'first delete the data of Tollgate in this Redis')
    .example('restore /backups/tollgate-2026-11-25 --check')
    .answers(async (file: string, options: RestoreOptions, command: CliCommand) => {
      const { restore } = await import('./restore.js');
      return restore(file, options, env, sayTo(command));
    });
}
