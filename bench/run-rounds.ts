import { failWhenStalled } from './fail-when-stalled.js';
import type { LaneRow } from './lane.js';

/** The result of one subject in one round. */
export interface Sample {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  failed: number;
  detail?: Record<string, number>;
}

export interface Subject {
  name: string;
  measure: () => Promise<Sample>;
}

export interface Case {
  name: string;
  baseline: string;
  /** Further subjects that every row is compared with, in a column each. */
  comparedWith?: readonly string[];
  subjects: Subject[];
}

/**
 * Measures every subject of every case once a round, and rotates the order each round: a disturbance of the machine
 * then affects all subjects alike, and each ratio is taken within one round.
 */
export async function runRounds(cases: Case[], rounds: number, progress: (text: string) => void): Promise<LaneRow[]> {
  const samples = new Map<Subject, Sample[]>();
  for (let round = 0; round < rounds; round++) {
    for (const { name, subjects } of cases) {
      const turned = subjects.map((_, index) => subjects[(index + round) % subjects.length]).filter(isPresent);
      for (const subject of turned) {
        progress(`round ${round + 1} of ${rounds}, ${name}: ${subject.name}`);
        const taken = samples.get(subject) ?? [];
        taken.push(await failWhenStalled(`${subject.name} (${name})`, subject.measure));
        samples.set(subject, taken);
      }
    }
  }
  return cases.flatMap(({ name, baseline, comparedWith = [], subjects }) => {
    const samplesOf = (wanted: string) => {
      const found = subjects.find((subject) => subject.name === wanted);
      return found && samples.get(found);
    };
    return subjects.map((subject) => {
      const own = samples.get(subject) ?? [];
      const row = toRow(name, subject.name, own, samplesOf(baseline));
      const ratios = comparedWith.map(
        (other) => [`ratio to ${other}`, compareRates(own, samplesOf(other) ?? [])] as const,
      );
      return { ...row, detail: { ...Object.fromEntries(ratios), ...row.detail } };
    });
  });
}

/** Median over the rounds of one rate divided by the other of the same round. */
function compareRates(samples: Sample[], base: Sample[]): number {
  return median(samples.map(({ perSecond }, round) => perSecond / (base[round]?.perSecond ?? NaN)));
}

/** The middle value; the mean of the two middle ones when their number is even. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? NaN;
  return (lower + upper) / 2;
}

function toRow(caseName: string, subject: string, samples: Sample[], base: Sample[] | undefined): LaneRow {
  const rates = samples.map(({ perSecond }) => perSecond);
  const names = [...new Set(samples.flatMap(({ detail }) => Object.keys(detail ?? {})))];
  return {
    case: caseName,
    subject,
    perSecond: median(rates),
    range: [Math.min(...rates), Math.max(...rates)],
    p50Ms: median(samples.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(samples.map(({ p99Ms }) => p99Ms)),
    ...(base ? { ratio: compareRates(samples, base) } : {}),
    ...comparePerCore(samples, base),
    failed: samples.reduce((sum, { failed }) => sum + failed, 0),
    detail: Object.fromEntries(
      names.map((name) => [name, median(samples.map(({ detail }) => detail?.[name] ?? NaN))] as const),
    ),
  };
}

/** If other work shares the machine, CPU time says more than the clock. */
function comparePerCore(samples: Sample[], base: Sample[] | undefined): Pick<LaneRow, 'perCore' | 'perCoreRatio'> {
  const rates = samples.map(ratePerCore);
  if (rates.some((rate) => rate === undefined)) return {};
  const ratios = rates.map((rate, round) => (rate ?? NaN) / ((base?.[round] && ratePerCore(base[round])) ?? NaN));
  return {
    perCore: median(rates.filter(isPresent)),
    ...(ratios.some(Number.isNaN) ? {} : { perCoreRatio: median(ratios) }),
  };
}

const NOT_SERVING = ['load cores', 'chain cores'];

/** Undefined when no processor time was counted. */
export function ratePerCore({ perSecond, detail = {} }: Sample): number | undefined {
  const cores = Object.entries(detail).filter(([name]) => name.endsWith(' cores') && !NOT_SERVING.includes(name));
  const used = cores.reduce((sum, [, value]) => sum + value, 0);
  return used > 0 ? perSecond / used : undefined;
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined;
}
