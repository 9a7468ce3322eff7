/**
 * JSON with the names of every object in the order of their code units and no spaces: the same value is always the same
 * text. Properties that are undefined are left out.
 * @throws TypeError for what JSON cannot hold: a bigint, a cycle, a number that is not finite.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === 'number' && !Number.isFinite(part)) throw new TypeError('a number that is not finite');
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    const entries = Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1));
    // A null prototype, so that a property named __proto__ is one like any other.
    const sorted = Object.create(null) as Record<string, unknown>;
    for (const [name, member] of entries) sorted[name] = member;
    return sorted;
  });
}
