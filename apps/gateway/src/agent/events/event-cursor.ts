/** A client's position: the sequence of the last event it received from each lane, by the lane's code. */
export type EventCursor = ReadonlyMap<string, number>;

const MAX_LENGTH = 8_192;
const PLACE = /^(j[0-9a-f]{8})-([0-9a-z]{1,10})$/;

/** Encodes all positions in one opaque word, which clients send back unchanged. */
export function writeCursor(cursor: EventCursor): string {
  return ['e1', ...[...cursor].map(([code, sequence]) => `${code}-${sequence.toString(36)}`)].join('.');
}

/** Null for text that is not a cursor. */
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
