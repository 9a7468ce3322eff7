export interface Random {
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
}

/** The same choices for the same seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * limit);
  };
  return {
    below,
    pick: (items) => items[below(items.length)]!,
    shuffle: (items) => {
      const left = [...items];
      return items.flatMap(() => left.splice(below(left.length), 1));
    },
  };
}
