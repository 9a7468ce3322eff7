/** Entries are spread over this many hash tags, so that a cluster spreads them over its servers. */
export const BUCKETS = 32;

/** Refusals have their own hash tag, because they belong to no entry. */
export const REFUSED_STREAM = 'tollgate:{refused}:refused-payments';
export const REFUSED_SEEN = 'tollgate:{refused}:seen';
/** How often each was presented, for the book. */
export const REFUSED_COUNTS = 'tollgate:{refused}:counts';

/** FNV-1a, which spreads evenly; nothing else is required of it. */
export function bucketOf(entry: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < entry.length; index++) {
    hash = Math.imul(hash ^ entry.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % BUCKETS;
}

const tag = (bucket: number): string => `tollgate:{pay-${bucket}}`;

/** Each chain has births of its own: a block number says nothing about the blocks of another chain. */
export const birthKey = (bucket: number, chainId: number): string => `${tag(bucket)}:birth:${chainId}`;
export const answersKey = (bucket: number): string => `${tag(bucket)}:answers`;
export const entryKey = (bucket: number, entry: string): string => `${tag(bucket)}:${entry}`;
export const answerKey = (bucket: number, entry: string, slot: string): string =>
  `${tag(bucket)}:answer:${entry}:${slot}`;

/** The entry in a Redis key; null for births, answers and other keys. */
export function entryOfKey(key: string): string | null {
  return /^tollgate:\{pay-\d+\}:((?:tx|auth|permit):.+)$/.exec(key)?.[1] ?? null;
}
