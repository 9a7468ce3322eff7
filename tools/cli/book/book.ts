import { writeFileSync } from 'node:fs';

import { nameAsset } from '@tollgate/operator-api';

import { clean } from '../jobs/format-jobs.js';
import { CommandError, type CommandResult } from '../shared/cli-command.js';
import { formatTable, formatTime } from '../shared/format-table.js';
import { AMOUNT_COLUMNS, readAmounts } from './amounts.js';
import { OperatorApi, type OperatorPlace } from './operator-api.js';

export interface BookedOptions extends OperatorPlace {
  owed?: true;
  state?: string;
  route?: string;
  payer?: string;
  option?: string;
  limit: number;
}

export interface ExportOptions extends OperatorPlace {
  from?: string;
  to?: string;
  format: 'csv' | 'jsonl';
}

export async function showBalances(options: OperatorPlace, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const operator = new OperatorApi(options, env);
  const { balances } = await operator.ask('GET /operator/balances', {});
  if (balances.length === 0) return { json: balances, text: 'Nothing has been booked yet.' };
  const show = await readAmounts(operator);
  const rows = balances.map(({ account, asset, amount }) => [account, ...show(asset, amount), asset]);
  return { json: balances, text: formatTable(['ACCOUNT', ...AMOUNT_COLUMNS, 'ASSET'], rows) };
}

export async function listBooked(
  { owed, state, route, payer, option, limit, ...place }: BookedOptions,
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const operator = new OperatorApi(place, env);
  const query = { limit, owed: owed && 'true', state, route, payer, option };
  const { payments } = await operator.ask('GET /operator/payments', { query });
  if (payments.length === 0) return { json: payments, text: 'The book has no such payment.' };
  const show = await readAmounts(operator);
  const rows = payments.map((one) => [
    ...[formatTime(Date.parse(one.at)), one.state, ...show(nameAsset(one), one.amount)],
    ...[clean(one.route ?? '-'), one.payer ?? '-', one.id],
  ]);
  return { json: payments, text: formatTable(['AT', 'STATE', ...AMOUNT_COLUMNS, 'ROUTE', 'PAYER', 'PAYMENT'], rows) };
}

/** @throws CommandError that names the first broken row */
export async function verify(options: OperatorPlace, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const verdict = await new OperatorApi(options, env).ask('GET /operator/verification', {});
  const { bookings, entries, closings, chainHash, broken } = verdict;
  if (broken !== null) throw new CommandError(`The book is broken. ${broken}`);
  const text = `The book is whole: ${bookings} bookings, ${entries} entries, ${closings} closings; its chain ends with ${chainHash}.`;
  return { json: verdict, text };
}

export async function close(options: OperatorPlace, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const { closings } = await new OperatorApi(options, env).ask('POST /operator/closings', {});
  const lines = closings.map(
    ({ content: { number, firstBooking, lastBooking, root }, signer }) =>
      `Closing ${number}: bookings ${firstBooking} to ${lastBooking}, root ${root}, signed by ${signer}.`,
  );
  return { json: closings, text: lines.length === 0 ? 'Everything is closed already.' : lines.join('\n') };
}

export async function forget(
  { months, ...options }: OperatorPlace & { months: string },
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const body = { months: Number(months) };
  const removed = await new OperatorApi(options, env).ask('POST /operator/retention', { body });
  const { before, payments, events, outgoing } = removed;
  const text = `Removed what was requested before ${before}: of ${payments} payments, ${events} events of the outbox and ${outgoing} events for other programs.`;
  return { json: removed, text };
}

/** @throws CommandError also where the file exists */
export async function prove(
  payment: string,
  { out, ...options }: OperatorPlace & { out: string },
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const proof = await new OperatorApi(options, env).ask('GET /operator/payments/:id/proof', { id: payment });
  try {
    writeFileSync(out, `${JSON.stringify(proof, null, 2)}\n`, { flag: 'wx' });
  } catch (error) {
    throw new CommandError(`${out} cannot be written (${(error as NodeJS.ErrnoException).code}). Name a new file.`);
  }
  return { json: proof, text: `${out} is written. Check it with tollgate verify-proof ${out} --key <address>.` };
}

export function exportTable(
  table: 'payments' | 'entries',
  { from, to, format, ...options }: ExportOptions,
  env: NodeJS.ProcessEnv,
): AsyncIterable<string> {
  const query = { format, from, to };
  return new OperatorApi(options, env).readParts('GET /operator/exports/:table', { table, query });
}
