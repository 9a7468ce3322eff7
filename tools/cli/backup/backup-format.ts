/**
 * A backup: a line with the version, a line of JSON, records, and the SHA-256 of everything before it. A record is a byte
 * for its kind, and then the lengths of its parts.
 */
export const MAGIC = 'TOLLGATE-BACKUP';
export const FORMAT_VERSION = 1;
export const CHECKSUM_BYTES = 32;

/** The kinds of records. The last one of a file is its summary. */
export const KIND = { redisKey: 1, summary: 2 } as const;

/** kind, length of the key, length of the value, expiry in ms (0: never). */
const KEY_HEAD_BYTES = 1 + 2 + 4 + 8;
const SUMMARY_HEAD_BYTES = 1 + 4;

/** What is known before the first key is copied. */
export interface BackupHeader {
  /** Names the copy. */
  id: string;
  /** By the clock of Redis. What was answered later is not in the copy. */
  startedAtMs: number;
  /** Version of the servers, such as `7.0.15`. */
  redisVersion: string;
}

/** How many of each. */
export interface BackupCounts {
  payments: number;
  answers: number;
  lanes: number;
  jobs: number;
  keys: number;
}

export interface BackupSummary {
  endedAtMs: number;
  counts: BackupCounts;
}

export interface RedisKeyRecord {
  kind: typeof KIND.redisKey;
  key: string;
  expiresAtMs: number | null;
  value: Buffer;
}

export type BackupRecord = RedisKeyRecord | { kind: typeof KIND.summary; summary: BackupSummary };

export function encodeStart(header: BackupHeader): Buffer {
  return Buffer.from(`${MAGIC} ${FORMAT_VERSION}\n${JSON.stringify(header)}\n`);
}

export function encodeKey({ key, expiresAtMs, value }: Omit<RedisKeyRecord, 'kind'>): Buffer[] {
  const name = Buffer.from(key);
  const head = Buffer.alloc(KEY_HEAD_BYTES);
  head.writeUInt8(KIND.redisKey, 0);
  head.writeUInt16BE(name.length, 1);
  head.writeUInt32BE(value.length, 3);
  head.writeBigUInt64BE(BigInt(expiresAtMs ?? 0), 7);
  return [head, name, value];
}

export function encodeSummary(summary: BackupSummary): Buffer[] {
  const text = Buffer.from(JSON.stringify(summary));
  const head = Buffer.alloc(SUMMARY_HEAD_BYTES);
  head.writeUInt8(KIND.summary, 0);
  head.writeUInt32BE(text.length, 1);
  return [head, text];
}

/** Reads the record that `take` is at. */
export async function decodeRecord(take: (bytes: number) => Promise<Buffer>): Promise<BackupRecord> {
  const kind = (await take(1)).readUInt8(0);
  if (kind === KIND.summary) {
    const text = await take((await take(SUMMARY_HEAD_BYTES - 1)).readUInt32BE(0));
    return { kind, summary: JSON.parse(text.toString()) as BackupSummary };
  }
  if (kind !== KIND.redisKey) throw new Error(`a record of the unknown kind ${kind}`);
  const head = await take(KEY_HEAD_BYTES - 1);
  const [keyBytes, valueBytes, expiresAtMs] = [head.readUInt16BE(0), head.readUInt32BE(2), head.readBigUInt64BE(6)];
  const key = (await take(keyBytes)).toString();
  return { kind, key, expiresAtMs: expiresAtMs === 0n ? null : Number(expiresAtMs), value: await take(valueBytes) };
}

export function formatCounts({ payments, answers, jobs, lanes, keys }: BackupCounts): string {
  return `${payments} payments, ${answers} stored answers, ${jobs} jobs of ${lanes} accounts, ${keys} keys in all`;
}
