import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  BookWriter,
  claimBook,
  postEvents,
  readReconciliation,
  searchPayments,
  type BookPlace,
  type BookSeller,
  type ChainScope,
  type DeliveredEvent,
} from '@tollgate/book';
import { ChainHistory, combineObservers, connectChain } from '@tollgate/chain';

import { ChainComparison } from '../../apps/bookkeeper/src/reconcile/chain-comparison.js';
import { answered, deliver, transferId } from '../../libs/book/test/sample-events.js';
import { startPostgres } from '../../tools/devnet/processes/postgres.js';
import { startProgram } from '../../tools/devnet/processes/start-program.js';
import type { LaneOptions, LaneResult } from '../lane.js';
import { paymentAt } from '../reconcile-chain.js';
import { formatNumber } from '../report.js';
import { withCleanup, type KeepUntilEnd } from '../with-cleanup.js';

const CHAIN_ID = 1328;
const PER_BLOCK = 20;
const PAYMENTS = 1_000_000;
/** Posted as events; the others are copied by SQL, because only their number matters. */
const POSTED = 20_000;
const BATCH = 500;
const COPIED_AT_ONCE = 20_000;
const SEARCHES = 600;
const COMPLETE_FROM_MS = 1_700_000_000_000;
const SELLER: BookSeller = { asset: `0x${'a5'.repeat(20)}`, payTo: `0x${'b0'.repeat(20)}` };
const SCOPE: ChainScope = { chainId: CHAIN_ID, asset: SELLER.asset, recipient: SELLER.payTo };

/** A book of many payments against the logs of a provider, and the search in it. */
export async function runReconcileLane({ quick, progress }: LaneOptions): Promise<LaneResult> {
  return withCleanup(async (keep) => {
    const count = quick ? POSTED : PAYMENTS;
    const { place, kind } = await choosePlace(keep);
    const database = await claimBook(place);
    keep({ stop: () => database.close() });
    const writer = await BookWriter.open(database, 'bench');
    await writer.noteCompleteFrom(COMPLETE_FROM_MS);

    const empty = await sizeOf(writer);
    const postedPerSecond = await post(writer, POSTED);
    const bytesPosted = (await sizeOf(writer)) - empty;
    await copy(writer, POSTED + 1, count, progress);
    const filled = await sizeOf(writer);
    progress('comparing');
    const node = keep(
      await startProgram(['bench/programs/logs-node.ts'], {
        ...{ PAYMENTS: String(count), PER_BLOCK: String(PER_BLOCK), CHAIN_ID: String(CHAIN_ID) },
      }),
    );
    const seconds = await compare(writer, node.url, keep);
    const bytesCompared = (await sizeOf(writer)) - filled;
    const result = await readReconciliation(database, SCOPE, { fromMs: 0, toMs: Date.UTC(9999, 0) });
    const differences = result.chainOnly.length + result.bookOnly.length + result.different.length;
    const open = result.waiting.transfers + result.waiting.payments;
    progress('searching');
    const searchMs = await search(writer, count);
    return {
      lane: 'reconcile',
      title: `${formatNumber(count)} payments in ${kind}`,
      rows: [
        { case: 'post events', subject: kind, perSecond: postedPerSecond },
        {
          ...{ case: 'compare with the chain', subject: kind, perSecond: count / seconds, failed: differences + open },
          detail: { seconds },
        },
        { case: 'search', subject: kind, p50Ms: searchMs.p50, p99Ms: searchMs.p99, detail: { 'p95 ms': searchMs.p95 } },
      ],
      notes: [
        `Bytes a payment, indexes included: ${Math.round(bytesPosted / POSTED)} for its event, booking and entries, ` +
          `${Math.round(bytesCompared / count)} more for its transfer.`,
      ],
    };
  });
}

async function choosePlace(keep: KeepUntilEnd): Promise<{ place: BookPlace; kind: string }> {
  if (process.env['BENCH_PGLITE'] === undefined) {
    return { place: { url: keep(await startPostgres()).url }, kind: 'PostgreSQL' };
  }
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  keep({ stop: () => Promise.resolve(rmSync(folder, { recursive: true })) });
  return { place: { folder }, kind: 'PGlite' };
}

/** Posts events as the bookkeeper does. Returns events a second. */
async function post(writer: BookWriter, count: number): Promise<number> {
  const startedMs = performance.now();
  for (let first = 1; first <= count; first += BATCH) {
    const events = Array.from({ length: BATCH }, (_, index) => createEvent(first + index));
    await postEvents(writer, events, SELLER);
  }
  return (count / (performance.now() - startedMs)) * 1000;
}

/** Copies the first payment under the names of others, with what has to be reconciled of them. */
async function copy(
  { database }: BookWriter,
  from: number,
  to: number,
  progress: (text: string) => void,
): Promise<void> {
  for (let first = from; first <= to; first += COPIED_AT_ONCE) {
    progress(`${formatNumber(first - 1)} of ${formatNumber(to)} payments`);
    const range = [first, Math.min(first + COPIED_AT_ONCE - 1, to)];
    await database.transaction(async (within) => {
      await within.query(
        `INSERT INTO payments (id, state, at, scheme, network, chain_id, asset, payer, recipient, route, request_id,
            transaction, reason, amount, refunded, reported, request_salt)
          SELECT 'tx:${CHAIN_ID}:' || hash || ':0', state, at + number * interval '1 second', scheme, network, chain_id, asset,
            '0x' || lpad(to_hex(number % 10000 + 1), 40, '0'), recipient, '/api/' || number % 50, 'request-' || number,
            hash, reason, 1000 + number % 5000, 0, reported, request_salt
          FROM (SELECT number, '0x' || lpad(to_hex(number), 64, '0') AS hash
            FROM generate_series($1::bigint, $2::bigint) AS number) AS named,
            (SELECT * FROM payments WHERE transaction = '0x' || lpad('1', 64, '0')) AS first`,
        range,
      );
      await within.query(
        `INSERT INTO unreconciled_payments (id, chain_id, transaction, asset, payer, recipient, amount)
          SELECT id, chain_id, transaction, asset, payer, recipient, amount FROM payments
          WHERE transaction IN (SELECT '0x' || lpad(to_hex(number), 64, '0')
            FROM generate_series($1::bigint, $2::bigint) AS number)`,
        range,
      );
    });
  }
}

function createEvent(number: number): DeliveredEvent {
  const { transaction, payer, amount } = paymentAt(number);
  const sale = { transaction, payer, amount: String(amount), price: String(amount) };
  const route = `/api/${number % 50}`;
  return deliver(answered(transferId(number), { ...sale, route, requestId: `request-${number}` }), `1-${number}`);
}

async function compare(writer: BookWriter, url: string, keep: KeepUntilEnd): Promise<number> {
  const nowMs = () => performance.now();
  const chain = connectChain({
    ...{ urls: [url], chainId: CHAIN_ID, timeoutMs: 30_000, batchSize: 1, batchesInFlight: 8 },
    ...{ maxResponseBytes: 64 * 1024 * 1024, maxReceiptBytes: 1024 * 1024, logRangeBlocks: 2_000 },
    ...{ observer: combineObservers(), nowMs },
  });
  keep({ stop: () => chain.close() });
  const comparison = new ChainComparison({
    ...{ history: new ChainHistory(chain.batcher, nowMs, 30_000), scope: SCOPE, seller: SELLER },
    ...{ confirmations: 12, rangeBlocks: 2_000, graceMs: 0, least: null, listAccounts: () => Promise.resolve([]) },
  });
  const startedMs = performance.now();
  await comparison.run(writer, Date.now(), new AbortController().signal);
  return (performance.now() - startedMs) / 1000;
}

async function search({ database }: BookWriter, count: number): Promise<{ p50: number; p95: number; p99: number }> {
  const times: number[] = [];
  for (let turn = 0; turn < SEARCHES; turn++) {
    const number = 1 + ((turn * 7_919) % count);
    const { transaction, payer } = paymentAt(number);
    const asked = [
      { transaction },
      { payer },
      { route: `/api/${number % 50}` },
      { requestId: `request-${number}` },
      { state: ['answered'] as const },
      { minAmount: '5900' },
    ];
    const startedMs = performance.now();
    await searchPayments(database, asked[turn % asked.length] ?? {}, { limit: 50 });
    times.push(performance.now() - startedMs);
  }
  times.sort((one, other) => one - other);
  const at = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? 0;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

async function sizeOf({ database }: BookWriter): Promise<number> {
  const [row] = await database.query<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes');
  return row?.bytes ?? 0;
}
