import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';

import type { LaneResult, LaneRow } from './lane.js';

export interface Report<Lane = LaneResult> {
  takenAt: string;
  machine: { cores: number; memoryGiB: number; platform: string; node: string };
  rounds: number;
  lanes: Lane[];
}

export function createReport<Lane>(rounds: number, lanes: Lane[]): Report<Lane> {
  return {
    takenAt: new Date().toISOString(),
    machine: {
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      platform: `${process.platform} ${process.arch}`,
      node: process.version,
    },
    rounds,
    lanes,
  };
}

export function writeReport(report: Report<unknown>, file: string): string {
  const path = resolve(file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(report, null, 2) + '\n');
  return path;
}

/** A lane as a Markdown table, which reads well on a screen too. */
export function formatLane({ lane, title, baseline, rows, notes = [] }: LaneResult): string {
  const details = [...new Set(rows.flatMap(({ detail }) => Object.keys(detail ?? {})))];
  const columns: [string, (row: LaneRow) => string][] = [
    ['case', (row) => row.case],
    ['server', (row) => row.subject],
    ['per second', (row) => formatNumber(row.perSecond)],
    ['slowest-fastest', (row) => (row.range ? row.range.map(formatNumber).join('-') : '')],
    [`ratio to ${baseline ?? 'baseline'}`, (row) => (row.ratio === undefined ? '' : row.ratio.toFixed(2))],
    ['per core', (row) => formatNumber(row.perCore)],
    ['ratio per core', (row) => (row.perCoreRatio === undefined ? '' : row.perCoreRatio.toFixed(2))],
    ['p50 ms', (row) => formatLatency(row.p50Ms)],
    ['p99 ms', (row) => formatLatency(row.p99Ms)],
    ['failed', (row) => (row.failed ? String(row.failed) : '')],
    ...details.map((name): [string, (row: LaneRow) => string] => [
      name,
      (row) => {
        const value = row.detail?.[name];
        return typeof value === 'number' ? formatNumber(value) : (value ?? '');
      },
    ]),
  ];
  const used = columns.filter(([, read]) => rows.some((row) => read(row) !== ''));
  const head = used.map(([name]) => name);
  const table = formatTable(
    head,
    rows.map((row) => used.map(([, read]) => read(row))),
  );
  return [`## ${lane}: ${title}`, '', table, ...notes.map((note) => `\n${note}`), ''].join('\n');
}

/** As Markdown; the first two columns are text, the others numbers. */
export function formatTable(head: string[], rows: string[][]): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((cells) => (cells[column] ?? '').length)));
  const pad = (text: string, column: number) =>
    column < 2 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  const line = (cells: string[]) => `| ${cells.map(pad).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column < 2 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/** Three significant digits, thousands separated; nothing for what was not measured. */
export function formatNumber(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return '';
  if (Math.abs(value) >= 100 || value === 0) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

/** Autocannon counts whole milliseconds. */
function formatLatency(value: number | undefined): string {
  return value === 0 ? '<1' : formatNumber(value);
}
