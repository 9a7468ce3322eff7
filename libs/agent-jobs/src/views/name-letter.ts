/** The id of a dead letter: its job's event and its target. It has no colon. */
export function nameLetter(eventId: string, targetId: string): string {
  return `${eventId.replaceAll(':', '.')}.${targetId}`;
}

export function parseLetterName(name: string): { eventId: string; targetId: string } {
  const end = name.lastIndexOf('.');
  return { eventId: name.slice(0, Math.max(0, end)).replaceAll('.', ':'), targetId: name.slice(end + 1) };
}
