import { runCommand } from './run-command.js';
import { KEYS_HELP, runKeys } from './run-keys.js';

await runCommand(KEYS_HELP, () => runKeys(process.argv.slice(2), process.env));
