/** What `npm run prove` says of a round: its random choices, and whether it is as long as the proof or as short as in CI. */
export interface Round {
  seed: number;
  isQuick: boolean;
}

export function readRound(): Round {
  const { PROOF_SEED: seed, PROOF_SIZE: size } = process.env;
  if (seed === undefined || size === undefined) throw new Error('Run a proof by `npm run prove`: see its --help.');
  return { seed: Number(seed), isQuick: size === 'quick' };
}
