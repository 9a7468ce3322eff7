import { appendFileSync } from 'node:fs';

import type { Kind } from './cluster/faults.js';

/**
 * A round's settings from `npm run prove`: its random choices, and whether it has the proof's length or CI's short one.
 */
export interface Round {
  seed: number;
  isQuick: boolean;
}

export function readRound(): Round {
  const { PROOF_SEED: seed, PROOF_SIZE: size } = process.env;
  if (seed === undefined || size === undefined) throw new Error('Run a proof by `npm run prove`: see its --help.');
  return { seed: Number(seed), isQuick: size === 'quick' };
}

/** What a round has counted, for its record. */
export function reportFigures(figures: object): void {
  const { PROOF_REPORT: file } = process.env;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(figures)}\n`);
}

/** Settings of a proof that goes through many rounds in one process, and reports each as it ends. */
export interface Series extends Round {
  rounds: number;
  kind: Kind;
  report: (round: { seed: number; passed: boolean; startedAtMs: number; figures: object }) => void;
}

export function readSeries(): Series {
  const { PROOF_ROUNDS: rounds, PROOF_KIND: kind, PROOF_REPORT: file } = process.env;
  if (file === undefined) throw new Error('Run this proof by `npm run prove:cluster`: see its --help.');
  return {
    ...readRound(),
    rounds: Number(rounds),
    kind: kind as Kind,
    report: ({ seed, passed, startedAtMs, figures }) => {
      const seconds = Math.round((Date.now() - startedAtMs) / 1000);
      const at = new Date(startedAtMs).toISOString();
      appendFileSync(file, `${JSON.stringify({ seed, passed, seconds, at, ...figures })}\n`);
    },
  };
}
