import { Readable } from 'node:stream';

import { Get, Inject, Param, Query, Req, StreamableFile } from '@nestjs/common';
import { EXPORTS, readExport, type ExportName, type ExportRow, type Queryable } from '@tollgate/book';
import { onlyFields, ProblemError } from '@tollgate/http';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import { BookHolder } from '../book/book-holder.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { createUnits, toDecimal, type UnitOf } from './asset-units.js';
import { LongReadings, type Write } from './long-readings.js';
import { ForOperators, OperatorController } from './operator-controller.js';
import { END_OF_TIME_MS, timeParameter } from './time-parameter.js';

const exportQuery = onlyFields({
  ...{ from: timeParameter.optional(), to: timeParameter.optional() },
  format: z.enum(['csv', 'jsonl'], 'must be csv or jsonl').default('csv'),
});

const TYPES = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' };

@OperatorController('exports')
export class ExportsController {
  readonly #unitOf: UnitOf;

  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(LongReadings) private readonly readings: LongReadings,
    @Inject(BookkeeperEnvironment) { payment }: BookkeeperEnvironment,
  ) {
    this.#unitOf = createUnits(payment);
  }

  @Get(':table')
  @ForOperators('operator:read', 'All payments or entries of a time, as CSV or JSON lines, oldest first')
  async export(
    @Param('table') table: string,
    @Query({ schema: exportQuery }) { from, to, format }: z.output<typeof exportQuery>,
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
  const asset = columns.indexOf('asset');
  const places = amounts.map((name) => columns.indexOf(name as never));
  const complete = (row: ExportRow): ExportRow => {
    const unit = unitOf(row[asset] ?? null);
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
