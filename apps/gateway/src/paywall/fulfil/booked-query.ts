const MOST_BOOKED = 1_024;

/**
 * The query of a sale as the book gets it: without the parameters whose names end with one of these, and bounded. A name
 * that cannot be decoded is left out too.
 */
export function bookedQuery(query: string, without: readonly string[]): string {
  const endings = without.map(simplify);
  const isLeftOut = (name: string): boolean => {
    const parts = decode(name)?.split(/[[\].]+/);
    return parts?.some((part) => endings.some((ending) => simplify(part).endsWith(ending))) ?? true;
  };
  // Some upstreams take `;` for a separator, so that a secret may stand behind one.
  const kept = query.replace(/(^|[&;])([^&;=]*)(?:=[^&;]*)?/g, (parameter, _, name: string) =>
    name !== '' && isLeftOut(name) ? '' : parameter,
  );
  return kept.replace(/^[&;]+/, '').slice(0, MOST_BOOKED);
}

/** `api_key`, `api-key` and `apiKey` are one name. */
function simplify(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase();
}

function decode(name: string): string | null {
  try {
    return decodeURIComponent(name.replaceAll('+', ' ')).trim();
  } catch {
    return null;
  }
}
