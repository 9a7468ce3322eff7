import { ask, describeKey } from '../book/command.js';
import type { OperatorPlace } from '../book/operator-api.js';
import { limitOption, parseList, type CliCommand } from '../shared/cli-command.js';
import type { NewTargetOptions } from './payment-webhooks.js';

const TARGET = 'wh_0c1d2e3f405162738495a6b7';

/** `tollgate payment-webhooks` */
export function definePaymentWebhooks(program: CliCommand, env: NodeJS.ProcessEnv): void {
  const load = () => import('./payment-webhooks.js');
  const webhooks = program
    .command('payment-webhooks')
    .summary('webhook targets of payments, and deliveries that did not reach them');
  webhooks
    .description(
      'Manages the targets of your API key that events of payments are posted to. Those of jobs: tollgate webhooks.',
    )
    .addHelpText('after', describeKey('the scope operator:read'));

  ask(
    webhooks,
    'list',
    'Lists the targets of the API key, oldest first, with what waits and what was dropped for each.',
  )
    .example('payment-webhooks list')
    .answers(async (options: OperatorPlace) => (await load()).showTargets(options, env));

  ask(webhooks, 'add', 'Registers a target. Prints its secret, which is shown only this once.')
    .argument('<url>', 'where events are posted: an HTTPS URL on the public internet')
    .option('--events <types>', 'only these, comma separated, for example payment.refused,book.closed', parseList)
    .example('payment-webhooks add https://shop.example/hooks/payments --events payment.answered')
    .answers(async (url: string, options: NewTargetOptions) => (await load()).addTarget(url, options, env));

  ask(webhooks, 'dead', 'Lists deliveries that were given up, newest first.')
    .addOption(limitOption(200))
    .example('payment-webhooks dead --limit 10')
    .answers(async (options: OperatorPlace & { limit: number }) => (await load()).showDead(options, env));

  const onOne = (name: 'resend' | 'enable' | 'remove', description: string): CliCommand =>
    ask(webhooks, name, description)
      .argument('<target>', 'as list prints it')
      .example(`payment-webhooks ${name} ${TARGET}`)
      .answers(async (target: string, options: OperatorPlace) =>
        (await load()).changeTarget(name, target, options, env),
      );
  onOne('resend', 'Tries again, from the beginning, what was given up for a target.');
  onOne('enable', 'Enables a disabled target; it receives the events from now on.');
  onOne('remove', 'Removes a target for good; what waits for it is dropped.');
}
