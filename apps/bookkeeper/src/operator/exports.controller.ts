import { Readable } from 'node:stream';

import { Inject, Req, StreamableFile } from '@nestjs/common';
import { EXPORTS, readExport, type ExportName, type ExportRow, type Queryable } from '@tollgate/book';
import type { PaymentOption } from '@tollgate/config';
import { ProblemError } from '@tollgate/http';
import { END_OF_TIME_MS } from '@tollgate/operator-api';
import { formatTokenSum } from '@tollgate/protocol';
import type { FastifyRequest } from 'fastify';

import { BookHolder } from '../book/book-holder.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { LongReadings, type Write } from './long-readings.js';
import { OperatorController, Serve, type Operator } from './operator-controller.js';

const TYPES = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' };

@OperatorController()
export class ExportsController {
  readonly #unitOf: UnitOf;

  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(LongReadings) private readonly readings: LongReadings,
    @Inject(BookkeeperEnvironment) { options }: BookkeeperEnvironment,
  ) {
    this.#unitOf = createUnits(options);
  }

  @Serve('GET /operator/exports/:table')
  async export(
    { table, query: { from, to, format } }: Operator<'GET /operator/exports/:table'>,
    @Req() { method }: FastifyRequest,
  ): Promise<StreamableFile> {
    if (!isTable(table)) {
      const detail = `There are exports of ${Object.keys(EXPORTS).join(' and ')}.`;
      throw new ProblemError({ status: 404, code: 'not_found', detail });
    }
    const { database } = this.book.writer;
    const asked = { table, format, fromMs: from ?? 0, toMs: to ?? END_OF_TIME_MS };
    // Fastify reads a stream for a HEAD to its end, and throws it away.
    const stream =
      method === 'HEAD'
        ? Readable.from([])
        : await this.readings.stream((write) => writeExport(database, asked, this.#unitOf, write));
    return new StreamableFile(stream, { type: TYPES[format] });
  }
}

interface Asked {
  table: ExportName;
  format: 'csv' | 'jsonl';
  fromMs: number;
  toMs: number;
}

async function writeExport(
  within: Queryable,
  { table, format, ...range }: Asked,
  unitOf: UnitOf,
  write: Write,
): Promise<void> {
  const { schema, columns, amounts } = EXPORTS[table];
  const names = ['schema', ...columns, 'symbol', ...amounts.map((name) => `${name}_decimal`)];
  const [asset, network] = [columns.indexOf('asset'), columns.indexOf('network' as never)];
  const places = amounts.map((name) => columns.indexOf(name as never));
  const complete = (row: ExportRow): ExportRow => {
    const unit = unitOf(row[asset] ?? null, row[network] ?? null);
    return [schema, ...row, unit?.symbol ?? null, ...places.map((place) => toDecimal(row[place] ?? null, unit))];
  };
  if (format === 'csv') await write(formatCsv([names]));
  for await (const page of readExport(within, table, range)) {
    const rows = page.map(complete);
    if (rows.length > 0) await write(format === 'csv' ? formatCsv(rows) : formatJsonLines(names, rows));
  }
}

function isTable(name: string): name is ExportName {
  return Object.hasOwn(EXPORTS, name);
}

/** RFC 4180. A text that a spreadsheet would take for a formula gets an apostrophe, since payers choose some of them. */
function formatCsv(rows: readonly ExportRow[]): string {
  return rows.map((row) => `${row.map(formatCell).join(',')}\r\n`).join('');
}

function formatJsonLines(columns: readonly string[], rows: readonly ExportRow[]): string {
  return rows
    .map((row) => `${JSON.stringify(Object.fromEntries(columns.map((name, index) => [name, row[index] ?? null])))}\n`)
    .join('');
}

function formatCell(value: string | null): string {
  if (value === null) return '';
  // A negative amount is no formula.
  const text = /^[=+@\t\r]|^-(?!\d+(\.\d+)?$)/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

interface AssetUnit {
  readonly symbol: string;
  readonly decimals: number;
}

/**
 * The unit of an asset: of a payment, the token's address and `eip155:<chain id>`; of an entry, `<chain id>:<address>`. Null
 * for one that the settings do not describe.
 */
type UnitOf = (asset: string | null, network: string | null) => AssetUnit | null;

const COIN: AssetUnit = { symbol: 'native', decimals: 18 };

function createUnits(options: readonly PaymentOption[]): UnitOf {
  const units = new Map<string, AssetUnit>(
    options.flatMap(({ chain: { id }, asset, symbol, decimals }) => [
      [`${id}:${asset}`, { symbol, decimals }],
      [`${id}:native`, COIN],
    ]),
  );
  return (asset, network) => {
    const chain = /^eip155:(\d+)$/.exec(network ?? '')?.[1];
    return units.get(chain === undefined ? `${asset}` : `${chain}:${asset}`) ?? null;
  };
}

/** `-10000` of a token with 6 decimals is `-0.01`; null without an amount or a unit. */
function toDecimal(baseUnits: string | null, unit: AssetUnit | null): string | null {
  if (baseUnits === null || unit === null) return null;
  return formatTokenSum(BigInt(baseUnits), unit.decimals);
}
