import { ask, describeKey } from '../book/command.js';
import type { OperatorPlace } from '../book/operator-api.js';
import { limitOption, parseCount, type CliCommand } from '../shared/cli-command.js';
import type { RefundListOptions, RefundOptions } from './refunds.js';

const KEY = describeKey(
  'the scope operator:refund; for --preview, list and show operator:read is enough',
  'operator:refund',
);
const REFUND = 'r0c1d2e3f405162738495a6b7c8d9e0f1-1';

/** `tollgate refund` and `refunds` */
export function defineRefunds(program: CliCommand, env: NodeJS.ProcessEnv): void {
  const load = () => import('./refunds.js');
  ask(
    program,
    'refund',
    'Refunds a payment to the payer that the chain shows. The same command again is the same refund.',
  )
    .summary('refunds a payment')
    .argument('<payment>', "the payment's id, as payments list prints it with its slot")
    .option('--amount <amount>', 'in whole units of the token, for example 0.01 (default: all that is left)')
    .option('--reason <text>', 'why, for the book')
    .option('--answered', 'even though the payment bought an answer')
    .option('--number <n>', "which refund of the payment this is: a payment's second one is 2", parseCount(1000), 1)
    .option('--preview', 'only show what it would do')
    .example('refund tx:1328:0x…:0 --reason "came too late"')
    .addHelpText('after', KEY)
    .answers(async (payment: string, options: RefundOptions) => (await load()).refund(payment, options, env));

  const refunds = program
    .command('refunds')
    .summary('refunds: list them, send one again, give it up, or name what paid it');
  refunds.description('Shows refunds, and decides about those that have failed.').addHelpText('after', KEY);

  ask(refunds, 'list', 'Lists refunds, newest first.')
    .option('--state <state>', 'only those in this state: asked, closed, sending, refunded, failed, given_up, refused')
    .option('--payment <id>', 'only those of this payment')
    .addOption(limitOption(200))
    .example('refunds list --state failed')
    .answers(async (options: RefundListOptions) => (await load()).listRefunds(options, env));

  const onOne = (name: 'show' | 'retry' | 'give-up', description: string): CliCommand =>
    ask(refunds, name, description)
      .argument('<id>', 'id of the refund')
      .example(`refunds ${name} ${REFUND}`)
      .answers(async (id: string, options: OperatorPlace) => (await load()).decideRefund(name, id, options, env));
  onOne('show', 'Shows a refund and the state of its job.');
  onOne('retry', 'Sends a refund again whose job has failed.');
  onOne(
    'give-up',
    'Ends a refund whose job has failed. The payment stays closed, and may be refunded under the next number.',
  );
  ask(refunds, 'paid', 'Books a refund that was sent and whose job is no longer stored, by its transaction.')
    .argument('<id>', 'id of the refund')
    .argument('<transaction>', 'hash of the transaction that paid it, as the chain shows it')
    .example(`refunds paid ${REFUND} 0x…`)
    .answers(async (id: string, transaction: string, options: OperatorPlace) =>
      (await load()).markRefundPaid(id, transaction, options, env),
    );
}
