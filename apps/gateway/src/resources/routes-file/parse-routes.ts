import {
  ConfigurationError,
  describeProblems,
  formatPlace,
  parseEntry,
  parseYaml,
  reportUnknownKeys,
  type FileProblem,
  type ParsedEntry,
  type Place,
} from '@tollgate/config';
import { isRecord } from '@tollgate/protocol';

import { overlap, parsePathPattern } from '../../paywall/route/paid-path.js';
import type { PaidRoute } from '../../paywall/route/paid-route.js';
import { PublicPaths } from '../proxy/public-paths.js';
import { WEATHER_PATH } from '../weather/create-weather-route.js';
import { createProxyRoute, type ProxyRoute, type RouteContext } from './create-proxy-route.js';
import { RouteDescription } from './route-description.js';

/** The paths that every gateway serves itself, including everything below them. */
const OWN_PATHS = [
  '/health',
  '/metrics',
  '/docs',
  '/agent/jobs',
  '/agent/events',
  '/agent/webhooks',
  '/agent/queues',
  '/facilitator',
];

/**
 * The routes of a routes file.
 *
 * @throws ConfigurationError listing every problem with its place: `routes[2].price (line 9): …`
 */
export function parseRoutes(text: string, context: RouteContext): PaidRoute[] {
  const yaml = parseYaml(text);
  const problems: FileProblem[] = [];
  const publicPaths = new PublicPaths(context.publicUrl);
  const described = parseRouteDescriptions(yaml.value, problems).map((parsed) => ({
    place: parsed.place,
    methods: parsed.faulty.has('methods') ? [] : parsed.description.methods,
    created: createProxyRoute(parsed, context, publicPaths, problems),
  }));
  reportOverlaps(described, context, problems);
  if (problems.length === 0) return described.flatMap(({ created }) => created?.route ?? []);
  throw new ConfigurationError(describeProblems(yaml, problems));
}

/** The entries of a routes file. */
function parseRouteDescriptions(file: unknown, problems: FileProblem[]): ParsedEntry<RouteDescription>[] {
  if (!isRecord(file)) {
    problems.push({ place: [], message: 'must have "routes:" with a list below it' });
    return [];
  }
  reportUnknownKeys(file, ['routes'], [], problems);
  const { routes } = file;
  if (!Array.isArray(routes) || routes.length === 0) {
    problems.push({ place: ['routes'], message: 'must be a list of at least one route' });
    return [];
  }
  return routes.flatMap((entry: unknown, index) => {
    const place = ['routes', index];
    if (isRecord(entry)) return parseEntry(RouteDescription, entry, place, problems);
    problems.push({ place, message: 'must be a route: path, price, upstream' });
    return [];
  });
}

interface Described {
  readonly place: Place;
  readonly methods: readonly string[];
  readonly created: ProxyRoute | null;
}

/**
 * Reports routes that match the same request: the spelling of a request would then decide its price. The same path may
 * be listed several times, for different methods.
 */
function reportOverlaps(
  described: readonly Described[],
  { sellsWeather }: RouteContext,
  problems: FileProblem[],
): void {
  const ownPaths = sellsWeather ? [WEATHER_PATH, ...OWN_PATHS] : OWN_PATHS;
  const ownPatterns = ownPaths.flatMap((path) =>
    [path, `${path}/*`].map((pattern) => ({ path, pattern: parsePathPattern(pattern) })),
  );
  const paths = described.flatMap(({ place, methods, created }) =>
    created === null ? [] : { place: [...place, 'path'], methods, ...created },
  );
  paths.forEach((one, index) => {
    const own = ownPatterns.find(({ pattern }) => overlap(one.pattern, pattern));
    if (own !== undefined) {
      const message = `overlaps ${own.path}, which the gateway serves itself; use another path, such as /v1/*`;
      problems.push({ place: one.place, message });
    }
    for (const earlier of paths.slice(0, index)) {
      if (!overlap(one.pattern, earlier.pattern)) continue;
      const shared = one.methods.filter((method) => earlier.methods.includes(method));
      if (one.path === earlier.path && shared.length === 0) continue;
      const why =
        shared.length > 0
          ? `for ${shared.join(', ')}: some requests would have two prices`
          : 'with other methods: write both paths the same way';
      problems.push({ place: one.place, message: `overlaps ${formatPlace(earlier.place)} ${why}` });
    }
  });
}
