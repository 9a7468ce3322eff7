import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { Redis } from 'ioredis';

import { transactionEntry } from '../payment-id.js';
import { listPayments, showPayments, type PaymentListing, type PaymentState } from '../read-payments.js';
import { listRefusals } from '../read-refusals.js';
import { formatDetails, formatPayments, formatRefusals } from './format-payments.js';

const HELP = `Looks into the payments ledger; changes nothing.

  npm run payments -- list     [--state <state>] [--limit <n>] [--json]   payments, newest first
  npm run payments -- show <transaction hash | payment>        [--json]   everything about one transaction's payments
  npm run payments -- refused  [--limit <n>] [--json]                     payments that were made and refused, newest first

  --state    leased | answered (its answer is stored) | done (spent, no stored answer) | released
  --limit    how many to print; default 50
  --chain    chain id of the hash; default 1328
  --redis    the ledger's Redis; default REDIS_URL, else that of a running npm run dev, else redis://127.0.0.1:6379

Exit codes: 0 done; 1 the ledger does not hold what show was asked for, or its Redis did not answer; 2 wrong usage.
`;

const STATES: readonly string[] = ['leased', 'answered', 'done', 'released'] satisfies PaymentState[];

// Only the chain knows which authorization or permit a transaction has settled.
const NOT_FOUND = `Not in the ledger. A signed payment is found by its own name (auth:… or permit:…, see list), not by the hash
of the transaction that settled it.`;

class UsageError extends Error {}
class NotFoundError extends Error {}

interface Options {
  limit: number;
  json: boolean;
  chainId: number;
  state: PaymentState | undefined;
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments();
  if (values.help || positionals.length === 0) {
    console.log(HELP);
    return;
  }
  const options: Options = {
    limit: parseNatural(values.limit ?? '50', '--limit'),
    json: values.json ?? false,
    chainId: parseNatural(values.chain ?? '1328', '--chain'),
    state: parseState(values.state),
  };
  // What was typed wrong is found before Redis is asked.
  const work = findWork(positionals, options);
  const redis = new Redis(values.redis ?? findRedisUrl(), { lazyConnect: true, retryStrategy: () => null });
  let trouble: NodeJS.ErrnoException | undefined;
  redis.on('error', (error) => (trouble = error));
  try {
    await redis.connect().catch((cause: Error) => {
      // What it rejects with says only that the connection is closed; the code has no address in it.
      throw new Error(trouble?.code ?? trouble?.message ?? cause.message, { cause });
    });
    console.log(await work(redis));
  } finally {
    redis.disconnect();
  }
}

function findWork([command, subject, ...more]: string[], options: Options): (redis: Redis) => Promise<string> {
  const print = <T>(found: T[], format: (found: T[]) => string, none: string): string => {
    if (options.json) return JSON.stringify(found, null, 2);
    return found.length === 0 ? none : format(found);
  };
  if (command === 'show') {
    if (subject === undefined || more.length > 0) throw new UsageError('show needs one transaction hash or payment');
    const entry = parseEntry(subject, options);
    return async (redis) => {
      const found = await showPayments(redis, entry);
      if (found.length === 0) throw new NotFoundError(NOT_FOUND);
      return options.json ? JSON.stringify(found, null, 2) : formatDetails(found);
    };
  }
  if (command !== 'list' && command !== 'refused') throw new UsageError(`there is no command ${command}`);
  if (subject !== undefined) throw new UsageError(`${command} takes options only`);
  return async (redis) =>
    command === 'list'
      ? print(await newest(redis, options), formatPayments, 'The ledger holds no such payment.')
      : print(await listRefusals(redis, { limit: options.limit }), formatRefusals, 'No payment was refused.');
}

/** SCAN has no order, so every page is read; only the newest are kept in memory. */
async function newest(redis: Redis, { limit, state }: Options): Promise<PaymentListing[]> {
  const kept = new Map<string, PaymentListing>();
  for (let cursor: string | null = '0:0'; cursor !== null;) {
    const page: Awaited<ReturnType<typeof listPayments>> = await listPayments(redis, {
      cursor,
      ...(state && { state }),
    });
    // SCAN may give one twice.
    for (const payment of page.payments) kept.set(JSON.stringify(payment.id), payment);
    const excess = [...kept].sort(([, one], [, other]) => other.atMs - one.atMs).slice(limit);
    for (const [id] of excess) kept.delete(id);
    cursor = page.cursor;
  }
  return [...kept.values()].sort((one, other) => other.atMs - one.atMs);
}

function readArguments() {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    state: text,
    limit: text,
    chain: text,
    redis: text,
    json: flag,
    help: { ...flag, short: 'h' },
  } as const;
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function parseNatural(text: string, name: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`${name} must be a whole number above 0`);
  return Number(text);
}

function parseState(text: string | undefined): PaymentState | undefined {
  if (text !== undefined && !STATES.includes(text)) throw new UsageError(`--state must be one of ${STATES.join(', ')}`);
  return text as PaymentState | undefined;
}

/** Takes a bare hash, or a payment as the tables print it. */
function parseEntry(subject: string, { chainId }: Options): string {
  if (/^(auth|permit):/.test(subject)) return subject.toLowerCase();
  const [chain, hash = ''] = subject.startsWith('tx:') ? subject.split(':').slice(1) : [chainId, subject];
  try {
    return transactionEntry(Number(chain), hash);
  } catch {
    throw new UsageError(`${subject} is no transaction hash, and no payment`);
  }
}

function findRedisUrl(): string {
  if (process.env['REDIS_URL']) return process.env['REDIS_URL'];
  const stateFile = join(process.env['TOLLGATE_STATE_DIR'] || '.tollgate', 'dev.json');
  if (existsSync(stateFile)) {
    const { redisUrl } = JSON.parse(readFileSync(stateFile, 'utf8')) as { redisUrl?: string };
    if (redisUrl) return redisUrl;
  }
  return 'redis://127.0.0.1:6379';
}

main().catch((error: unknown) => {
  if (error instanceof UsageError) {
    console.error(`${error.message}\n\n${HELP}`);
    process.exitCode = 2;
    return;
  }
  process.exitCode = 1;
  if (error instanceof NotFoundError) {
    console.error(error.message);
    return;
  }
  // Never the URL, which may hold a password.
  const reason = error instanceof Error ? error.message : String(error);
  console.error(`The ledger's Redis did not answer (${reason}). Set REDIS_URL, or start one with npm run dev.`);
});
