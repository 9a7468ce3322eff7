/** The options of a lane: the number of rounds, the amount of work, and the progress output. */
export interface LaneOptions {
  rounds: number;
  /** Fewer requests and cases: shows that the lane works, not how fast it is. */
  quick: boolean;
  /** Measures the published servers too. */
  peers: boolean;
  progress: (text: string) => void;
}

/** A detail of rows in which it matters: CPU time of all serving processes, by `--against` computed from `perCore`. */
export const CPU_PER_ANSWER = 'CPU ms per answer';

/** One line of a lane's table: one subject in one case, medians over the rounds. */
export interface LaneRow {
  /** The load, e.g. `32 connections`. */
  case: string;
  /** The server, e.g. `tollgate` or `raw Fastify`. */
  subject: string;
  /** Answers (or operations) a second, median over the rounds. */
  perSecond?: number;
  /** Slowest and fastest round. */
  range?: [number, number];
  p50Ms?: number;
  p99Ms?: number;
  /** Median over the rounds of this subject's rate divided by the baseline's rate in the same round. */
  ratio?: number;
  /** Answers a second that one fully used core of the serving processes gives, and its ratio to the baseline's. */
  perCore?: number;
  perCoreRatio?: number;
  /** Requests with another answer than the expected one, in all rounds. */
  failed?: number;
  /** Processor cores used by each process during the measurement, and whatever else belongs to the row. */
  detail?: Record<string, number | string>;
}

export interface LaneResult {
  lane: string;
  title: string;
  /** What `ratio` divides by. */
  baseline?: string;
  rows: LaneRow[];
  notes?: string[];
}
