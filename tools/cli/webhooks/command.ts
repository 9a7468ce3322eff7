import { limitOption, type CliCommand } from '../shared/cli-command.js';
import type { WebhookOptions } from './webhooks.js';

const TARGET = 'wh_0c1d2e3f405162738495a6b7';

/** `tollgate webhooks` */
export function defineWebhooks(program: CliCommand, env: NodeJS.ProcessEnv): void {
  const load = () => import('./webhooks.js');
  const webhooks = program
    .command('webhooks')
    .summary('webhook targets of jobs, and deliveries that did not reach them');
  webhooks.description(
    'Manages the targets that events of agent jobs are posted to, and the deliveries that did not reach them. ' +
      'Those of payments: tollgate payment-webhooks.',
  );
  const ofKey = ['--key <id>', 'only what belongs to this API key'] as const;

  webhooks
    .query('list', 'Lists all targets, oldest first, with what waits and what was dropped for each.')
    .example('webhooks list --key 1a2b3c4d5e6f')
    .option(...ofKey)
    .answers(async (options: WebhookOptions) => (await load()).listTargets(options, env));

  webhooks
    .query('dead', 'Lists deliveries that were given up, newest first.')
    .option(...ofKey)
    .addOption(limitOption(999_999))
    .example('webhooks dead --limit 10')
    .answers(async (options: WebhookOptions & { limit: number }) => (await load()).listDead(options, env));

  webhooks
    .query('resend', 'Tries again, from the beginning, deliveries that were given up.')
    .argument('[delivery]', 'one of them, as dead prints it')
    .option('--all', 'all of them')
    .option(...ofKey)
    .example('webhooks resend --all --key 1a2b3c4d5e6f')
    .answers(async (delivery: string | undefined, options: WebhookOptions & { all?: true }) =>
      (await load()).resend(delivery, options, env),
    );

  webhooks
    .query('enable', 'Enables a disabled target.')
    .example(`webhooks enable ${TARGET}`)
    .argument('<target>', 'as list prints it')
    .answers(async (target: string, options: WebhookOptions) => (await load()).enableTarget(target, options, env));

  webhooks
    .query('remove', 'Removes a target for good; what waits for it is dropped.')
    .example(`webhooks remove ${TARGET}`)
    .argument('<target>', 'as list prints it')
    .answers(async (target: string, options: WebhookOptions) => (await load()).removeTarget(target, options, env));
}
