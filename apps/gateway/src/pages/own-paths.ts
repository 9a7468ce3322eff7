import { overlap, parsePathPattern } from '../paywall/route/paid-path.js';
import type { PaidRoute } from '../paywall/route/paid-route.js';
import { ASSETS_PATH } from './web-files.js';

/** The pages by the paths that each needs. */
const OWN = {
  front: { what: 'The front page (/)', paths: ['/'] },
  llms: { what: '/llms.txt', paths: ['/llms.txt'] },
  pay: {
    what: 'The pay page, and paying from a phone (/pay)',
    paths: ['/pay', '/pay/:ticket', `${ASSETS_PATH}/:file`],
  },
} as const;

export type OwnPage = keyof typeof OWN;

export interface OwnPaths {
  readonly served: ReadonlySet<OwnPage>;
  /** For each page that a seller's route replaces, one sentence for the log. */
  readonly notices: readonly string[];
}

/** Which pages can be served: a seller's own route always wins. */
export function findOwnPaths(routes: readonly PaidRoute[]): OwnPaths {
  const served = new Set<OwnPage>();
  const notices: string[] = [];
  for (const [page, { what, paths }] of Object.entries(OWN) as [OwnPage, (typeof OWN)[OwnPage]][]) {
    const winner = routes.find((route) => paths.some((path) => takes(route.path, path)));
    if (winner === undefined) served.add(page);
    else notices.push(`${what} is off, because your route ${winner.path} has this path.`);
  }
  return { served, notices };
}

function takes(route: string, path: string): boolean {
  return overlap(parsePathPattern(route), parsePathPattern(path));
}
