/** How far a client has come: the sequence of the last event of each lane, by the lane's code. */
export type EventCursor = ReadonlyMap<string, number>;

const MAX_LENGTH = 8_192;
const PLACE = /^(j[0-9a-f]{8})-([0-9a-z]{1,10})$/;

/** One word for all positions; clients send it back as it is. */
export function writeCursor(cursor: EventCursor): string {
  return ['e1', ...[...cursor].map(([code, sequence]) => `${code}-${sequence.toString(36)}`)].join('.');
}

/** Null for what is none of ours. */
export function readCursor(text: string): Map<string, number> | null {
  if (text.length > MAX_LENGTH) return null;
  const [version, ...places] = text.split('.');
  const cursor = new Map<string, number>();
  for (const place of places) {
    const [, code, digits = ''] = PLACE.exec(place) ?? [];
    const sequence = Number.parseInt(digits, 36);
    if (code === undefined || !Number.isSafeInteger(sequence)) return null;
    cursor.set(code, sequence);
  }
  return version === 'e1' ? cursor : null;
}
