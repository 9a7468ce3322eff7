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
