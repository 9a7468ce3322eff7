import {
  isSignedId,
  listPayments,
  listRefusals,
  locatePayment,
  MAX_RELEASES,
  showPayments,
  transactionEntry,
  type PaymentDetails,
  type PaymentId,
  type PaymentListing,
  type RecordedRefusal,
} from '@tollgate/ledger';
import type { RedisClient } from '@tollgate/redis';
import { InvalidArgumentError } from 'commander';

import { AMOUNT_COLUMNS, readConfiguredAmounts, type ShowAmount } from '../book/amounts.js';
import { CommandError, type CommandResult } from '../shared/cli-command.js';
import { findConfiguredChains } from '../shared/find-chain.js';
import { findRedisPlace } from '../shared/find-place.js';
import { formatTable, formatTime } from '../shared/format-table.js';
import { withRedis } from '../shared/with-redis.js';

export interface PaymentQuery {
  redis?: string;
  limit: number;
  /** One of `STATES`. */
  state?: 'leased' | 'answered' | 'done' | 'released' | 'refunding';
  chain?: number;
}

// Only the chain knows which authorization or permit a transaction has settled.
const SIGNED = `A signed payment is found by its own name (auth:… or permit:…, see list), not by the hash
of the transaction that settled it.`;

export async function listNewest(options: PaymentQuery, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const show = readConfiguredAmounts(env);
  const found = await withRedis(findRedisPlace(options.redis, env), (redis) => findNewest(redis, options));
  return { json: found, text: found.length === 0 ? 'The ledger holds no such payment.' : formatPayments(found, show) };
}

/** @throws InvalidArgumentError, CommandError where the ledger does not hold it */
export async function showLedgerEntry(
  payment: string,
  options: PaymentQuery,
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const entries = parseEntries(payment, options, env);
  const found = await withRedis(findRedisPlace(options.redis, env), (redis) =>
    Promise.all(entries.map((entry) => showPayments(redis, entry))),
  );
  const all = found.flat();
  const chains = entries.map((entry) => entry.split(':')[1]).join(', ');
  if (all.length === 0) throw new CommandError(`Not in the ledger on chain ${chains}. ${SIGNED}`);
  return { json: all, text: formatDetails(all) };
}

export async function listRefused({ redis: url, limit }: PaymentQuery, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const show = readConfiguredAmounts(env);
  const found = await withRedis(findRedisPlace(url, env), (redis) => listRefusals(redis, { limit }));
  return { json: found, text: found.length === 0 ? 'No payment was refused.' : formatRefusals(found, show) };
}

/** SCAN has no order, so every page is read; only the newest are kept in memory. */
async function findNewest(redis: RedisClient, { limit, state }: PaymentQuery): Promise<PaymentListing[]> {
  const kept = new Map<string, PaymentListing>();
  for (let cursor: string | null = '0:0'; cursor !== null;) {
    const page: Awaited<ReturnType<typeof listPayments>> = await listPayments(redis, {
      cursor,
      ...(state && { state }),
    });
    // SCAN may return one twice.
    for (const payment of page.payments) kept.set(JSON.stringify(payment.id), payment);
    const excess = [...kept].sort(([, one], [, other]) => other.atMs - one.atMs).slice(limit);
    for (const [id] of excess) kept.delete(id);
    cursor = page.cursor;
  }
  return [...kept.values()].sort((one, other) => other.atMs - one.atMs);
}

/** Accepts a bare hash, which may be a payment on each chain, or a payment in the form that the tables print. */
function parseEntries(payment: string, options: PaymentQuery, env: NodeJS.ProcessEnv): string[] {
  if (/^(auth|permit):/.test(payment)) return [payment.toLowerCase()];
  const isNamed = payment.startsWith('tx:');
  const [, chain, named = ''] = payment.split(':');
  const known = options.chain === undefined ? findConfiguredChains(env) : [options.chain];
  const chains = isNamed ? [Number(chain)] : known;
  try {
    return chains.map((chainId) => transactionEntry(chainId, isNamed ? named : payment));
  } catch {
    throw new InvalidArgumentError(`${payment} is neither a transaction hash nor a payment that list prints`);
  }
}

function formatPayments(payments: readonly PaymentListing[], show: ShowAmount): string {
  return formatTable(
    ['STATE', 'SINCE', 'RELEASES', 'RETRY KEY', ...AMOUNT_COLUMNS, 'PAYER', 'PAYMENT'],
    payments.map((one) => [
      ...[stateOf(one), formatTime(one.atMs), String(one.releases), yesNo(one.hasRetryKey)],
      ...show(onChain(one.id.chainId, one.asset), one.meteredBaseUnits),
      ...[one.payer ?? '-', nameOf(one.id)],
    ]),
  );
}

export function formatDetails(payments: readonly PaymentDetails[]): string {
  return payments
    .map((one) =>
      formatTable(
        ['PAYMENT', nameOf(one.id)],
        [
          ['state', stateOf(one)],
          ['since', formatTime(one.atMs)],
          ...(one.untilMs === null
            ? []
            : [[one.state === 'leased' ? 'lease until' : 'paused until', formatTime(one.untilMs)]]),
          ['holders so far', String(one.generation)],
          ['counted releases', `${one.releases} of ${MAX_RELEASES}`],
          ['produced again', `${one.reproductions} times`],
          ...(one.meteredBaseUnits === null ? [] : [['came to', `${one.meteredBaseUnits} base units`]]),
          ['stored answer', one.answerBytes === null ? 'none' : `${one.answerBytes} bytes`],
          ['retry key', yesNo(one.hasRetryKey)],
          ['forgotten', one.forgottenInMs === null ? 'never' : formatTime(Date.now() + one.forgottenInMs)],
        ],
      ),
    )
    .join('\n\n');
}

function formatRefusals(refusals: readonly RecordedRefusal[], show: ShowAmount): string {
  return formatTable(
    ['RECORDED', 'FAILURE', ...AMOUNT_COLUMNS, 'PAYER', 'PAYMENT', ''],
    refusals.map((one) => [
      ...[formatTime(one.recordedAtMs), one.failure],
      ...show(onChain(one.payment.split(':')[1], one.asset), one.amountBaseUnits),
      ...[one.payer ?? '-', one.payment],
      [one.redeemed ? 'redeemed since: no refund' : '', one.detail ?? ''].filter(Boolean).join('; '),
    ]),
  );
}

function onChain(chainId: number | string | undefined, asset: string | null): string | null {
  return asset === null ? null : `${chainId}:${asset}`;
}

/** An expired lease is shown, because its holder crashed or is late. */
function stateOf({ state, untilMs }: PaymentListing): string {
  return state === 'leased' && untilMs !== null && untilMs < Date.now() ? 'leased (ran out)' : state;
}

function nameOf(id: PaymentId): string {
  const { entry, slot } = locatePayment(id);
  return isSignedId(id) ? entry : `${entry}:${slot}`;
}

const yesNo = (yes: boolean): string => (yes ? 'yes' : 'no');
