import { Option } from 'commander';

import { limitOption, parseCount, type CliCommand } from '../shared/cli-command.js';
import type { PaymentQuery } from './payments.js';

const UNIT =
  '\nAmounts are in base units, and in units of the tokens that PAYMENTS_FILE, or ASSET_ADDRESS, ASSET_DECIMALS and ASSET_SYMBOL, describe.';
const RECORDED = `${UNIT}
A verifier records them, and is told no route: its log has the request's id beside the payment.`;
const KNOWN = `${UNIT}
The ledger knows the payer of a signed payment and the amount of a metered one. The rest, and the routes, are in the
book: tollgate book payments.`;
const STATES = ['leased', 'answered', 'done', 'released', 'refunding'];

/** `tollgate payments` */
export function definePayments(program: CliCommand, env: NodeJS.ProcessEnv): void {
  const load = () => import('./payments.js');
  const payments = program.command('payments').summary('the payments ledger: what was paid, and what was refused');
  payments.description('Reads the payments ledger; changes nothing.');

  payments
    .query('list', 'Lists payments, newest first.')
    .addOption(
      new Option(
        '--state <state>',
        'leased: being answered; answered: its answer is stored; done: spent without a stored answer; refunding: closed for a refund',
      ).choices(STATES),
    )
    .addOption(limitOption(999_999_999))
    .addHelpText('after', KNOWN)
    .example('payments list --state leased --limit 10')
    .answers(async (options: PaymentQuery) => (await load()).listNewest(options, env));

  payments
    .query('show', "Shows everything about one transaction's payments.")
    .argument('<payment>', 'a transaction hash, or a payment as list prints it')
    .option(
      '--chain <id>',
      'chain id of the hash (default: those of PAYMENTS_FILE, else CHAIN_ID, else 1328)',
      parseCount(999_999_999),
    )
    .example('payments show auth:1328:0x…')
    .answers(async (payment: string, options: PaymentQuery) => (await load()).showLedgerEntry(payment, options, env));

  payments
    .query('refused', 'Lists payments that were made and refused, newest first.')
    .addOption(limitOption(999_999_999))
    .addHelpText('after', RECORDED)
    .example('payments refused --limit 100000 --json')
    .answers(async (options: PaymentQuery) => (await load()).listRefused(options, env));
}
