import { runCommand } from './run-command.js';
import { runWebhooks, WEBHOOKS_HELP } from './run-webhooks.js';

await runCommand(WEBHOOKS_HELP, () => runWebhooks(process.argv.slice(2), process.env));
