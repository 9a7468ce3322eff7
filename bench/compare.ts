import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { startChild } from '../tools/devnet/processes/child-process.js';
import { SOURCE_LOADERS } from '../tools/devnet/processes/start-program.js';
import { CPU_PER_ANSWER, type LaneResult, type LaneRow } from './lane.js';
import { formatNumber, formatTable, type Report } from './report.js';
import { median } from './run-rounds.js';

/** How each measure is read from a row; an older checkout's rows have no CPU time, so it is read from the rate per core. */
const MEASURES = {
  'per second': ({ perSecond }) => perSecond,
  'per core': ({ perCore }) => perCore,
  [CPU_PER_ANSWER]: ({ perCore }) => perCore && 1000 / perCore,
  'p50 ms': ({ p50Ms }) => p50Ms,
} satisfies Record<string, (row: LaneRow) => number | undefined>;

type Measure = keyof typeof MEASURES;

const LOWER_IS_FASTER: readonly Measure[] = [CPU_PER_ANSWER, 'p50 ms'];

/** A row of a lane in both checkouts. */
export interface ComparedRow {
  case: string;
  subject: string;
  /** The rate by the clock and by a used core, the CPU time of a signed answer, or the latency of rows that have no rate. */
  measure: Measure;
  /** Median of each checkout. */
  old: number;
  new: number;
  /** Median over the rounds of the new value by the mean of the old values before and after it. */
  ratio: number;
  /** The smallest and the largest ratio of two old values: what the machine alone does to a ratio. */
  oldByOld: [number, number];
  /** Null: within what the machine alone does. */
  verdict: 'faster' | 'slower' | null;
}

export interface ComparedLane {
  lane: string;
  rows: ComparedRow[];
  /** Rows that only one checkout has, or that have neither rate nor latency. */
  left: string[];
}

/** One run of one lane in one checkout, with that checkout's own benchmark. */
interface LaneRun {
  checkout: string;
  lane: string;
  quick: boolean;
}

/** One round in a process of its own. */
async function runLaneOnce({ checkout, lane, quick }: LaneRun): Promise<LaneResult> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const output = join(folder, 'report.json');
  try {
    await runNode(`The lane ${lane} of ${checkout}`, checkout, [
      ...[...SOURCE_LOADERS, 'bench/main.ts', '--lane', lane, '--rounds', '1', '--no-peers', '--output', output],
      ...(quick ? ['--quick'] : []),
    ]);
    const [result] = (JSON.parse(readFileSync(output, 'utf8')) as Report).lanes;
    if (!result) throw new Error(`The lane ${lane} of ${checkout} reported nothing.`);
    return result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Compares runs that were taken in turn, old first and old last: `olds` has one more than `news`. A ratio divides by the
 * old runs on both sides, so that a machine that grows slower steadily shows in none.
 */
export function compareRuns(lane: string, olds: readonly LaneResult[], news: readonly LaneResult[]): ComparedLane {
  const names = new Map([...olds, ...news].flatMap(({ rows }) => rows.map((row) => [nameOf(row), row] as const)));
  const rows: ComparedRow[] = [];
  const left = new Set<string>();
  for (const [name, row] of names) {
    for (const measure of measuresOf(row)) {
      const oldValues = readValues(olds, name, measure);
      const newValues = readValues(news, name, measure);
      const isInAll = oldValues.length === olds.length && newValues.length === news.length;
      if (!isInAll) left.add(name);
      else
        rows.push({ case: row.case, subject: row.subject, measure, ...compareValues(oldValues, newValues, measure) });
    }
  }
  return { lane, rows, left: [...left] };
}

function measuresOf({ perSecond, perCore, detail }: LaneRow): Measure[] {
  if (perSecond === undefined) return ['p50 ms'];
  if (perCore === undefined) return ['per second'];
  return ['per second', 'per core', ...(detail?.[CPU_PER_ANSWER] === undefined ? [] : ([CPU_PER_ANSWER] as const))];
}

function compareValues(olds: number[], news: number[], measure: ComparedRow['measure']) {
  const ratio = median(news.map((value, round) => (2 * value) / ((olds[round] ?? NaN) + (olds[round + 1] ?? NaN))));
  const spread = Math.max(...olds) / Math.min(...olds);
  const oldByOld: [number, number] = [1 / spread, spread];
  return { old: median(olds), new: median(news), ratio, oldByOld, verdict: judgeRatio(ratio, oldByOld, measure) };
}

function judgeRatio(
  ratio: number,
  [lowest, highest]: ComparedRow['oldByOld'],
  measure: Measure,
): ComparedRow['verdict'] {
  if (ratio >= lowest && ratio <= highest) return null;
  return ratio > highest === !LOWER_IS_FASTER.includes(measure) ? 'faster' : 'slower';
}

function readValues(runs: readonly LaneResult[], name: string, measure: Measure): number[] {
  return runs.flatMap(({ rows }) => {
    const row = rows.find((each) => nameOf(each) === name);
    return (row && MEASURES[measure](row)) ?? [];
  });
}

function nameOf(row: LaneRow): string {
  return `${row.case}, ${row.subject}`;
}

/** As a Markdown table. */
export function formatComparison({ lane, rows, left }: ComparedLane): string {
  const head = ['case', 'server', 'measure', 'old', 'new', 'new/old', 'old/old', ''];
  const body = rows.map((row) => [
    ...[row.case, row.subject, row.measure, formatNumber(row.old), formatNumber(row.new), row.ratio.toFixed(2)],
    ...[row.oldByOld.map((ratio) => ratio.toFixed(2)).join('-'), row.verdict ?? ''],
  ]);
  const note =
    left.length === 0
      ? []
      : [
          '',
          `Not compared, because one checkout has no such row, or the row has neither rate nor latency: ${left.join('; ')}.`,
        ];
  return [`## ${lane}`, '', formatTable(head, body), ...note, ''].join('\n');
}

export interface Comparison {
  against: string;
  lanes: readonly string[];
  rounds: number;
  quick: boolean;
  progress: (text: string) => void;
}

/**
 * Runs each lane in turn in the other checkout (old) and in this one (new): old, new, old, new, ..., old. Yields each as
 * it is done.
 */
export async function* compareCheckouts(comparison: Comparison): AsyncGenerator<ComparedLane> {
  const { against, lanes, rounds, quick, progress } = comparison;
  const checkouts = { old: resolve(against), new: process.cwd() };
  for (const checkout of Object.values(checkouts)) {
    progress(`setting up ${checkout}`);
    await setUp(checkout);
  }
  for (const lane of lanes) {
    const olds: LaneResult[] = [];
    const news: LaneResult[] = [];
    const measure = async (name: 'old' | 'new') => {
      progress(`${lane}: round ${olds.length} of ${rounds}, ${name}`);
      return runLaneOnce({ checkout: checkouts[name], lane, quick });
    };
    olds.push(await measure('old'));
    for (let round = 1; round <= rounds; round++) {
      news.push(await measure('new'));
      olds.push(await measure('old'));
    }
    yield compareRuns(lane, olds, news);
  }
}

/** Builds and installs what the lanes run, where it is missing. */
export async function setUp(checkout: string): Promise<void> {
  if (!existsSync(join(checkout, 'bench/main.ts'))) {
    throw new Error(`${checkout} is no checkout of this repository: it has no bench/main.ts.`);
  }
  await runNode(`The set-up of ${checkout}`, checkout, ['scripts/setup.mjs', '--redis-server']);
}

/** Throws with the last lines of the process when it fails. */
async function runNode(name: string, cwd: string, args: string[]): Promise<void> {
  const child = await startChild({ name, command: process.execPath, args, cwd });
  const { code } = await child.exited;
  if (code !== 0) throw new Error(`${name} failed:\n${child.logs()}`);
}
