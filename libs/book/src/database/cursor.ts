/** The place of a row in a list that is ordered by time and id. */
export interface Cursor {
  /** As of `toISOString`. */
  readonly at: string;
  readonly id: string;
}

/** In a form that clients send back unchanged. */
export function writeCursor({ at, id }: Cursor): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

/** Only what `writeCursor` writes: the database refuses other times, and a text with a zero byte. @throws RangeError */
export function parseCursor(text: string): Cursor {
  const [, at, id] = /^(\d{4}-\S{19}) ([^\s\0]{1,300})$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (at === undefined || id === undefined || !isTime(at)) throw new RangeError('The cursor is not one of this list.');
  return { at, id };
}

/** The database has no year 0. */
function isTime(at: string): boolean {
  const ms = Date.parse(at);
  return !at.startsWith('0000') && !Number.isNaN(ms) && new Date(ms).toISOString() === at;
}
