import { canonicalName } from '../../paywall/route/hop-by-hop-headers.js';
import { isReservedHeader } from '../proxy/create-upstream-headers.js';
import { expandVariables, ExpansionError } from './expand-variables.js';
import type { Place, RouteProblem } from './place.js';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Parses the headers for the upstream, such as its API key. Values are secrets: no problem quotes one. */
export function parseUpstreamHeaders(
  headers: Readonly<Record<string, unknown>>,
  {
    place,
    env,
    problems,
  }: { place: Place; env: Readonly<Record<string, string | undefined>>; problems: RouteProblem[] },
): [string, string][] {
  const seen = new Set<string>();
  return Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    const report = (message: string): [] => {
      problems.push({ place: [...place, name], message });
      return [];
    };
    if (!TOKEN.test(name)) return report('is not a valid header name');
    if (isReservedHeader(name)) return report('is set by the gateway and cannot be set here');
    if (seen.has(canonicalName(name))) return report('is listed twice: case is ignored, and - and _ count as the same');
    seen.add(canonicalName(name));
    if (typeof value !== 'string') return report('must be text; write numbers in quotes');
    try {
      const expanded = expandVariables(value, env);
      return VALUE.test(expanded)
        ? [[name, expanded]]
        : report('contains a character that is not allowed in a header, such as a line break');
    } catch (error) {
      if (error instanceof ExpansionError) return report(error.message);
      throw error;
    }
  });
}
