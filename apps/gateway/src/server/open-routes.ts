import type { FastifyInstance, RouteOptions } from 'fastify';

import type { Admission } from './gate.js';

/** Paths that are served without payment; `/docs/*` opens everything below. */
export interface OpenPaths {
  readonly free: readonly string[];
  /** Free, and for the machines that look after the gateway: over plain HTTP and without limit. */
  readonly operational: readonly string[];
  /** Of pages whose routes cannot name their admission themselves. */
  readonly guarded: readonly { readonly paths: readonly string[]; readonly access: Admission }[];
}

/**
 * Opens the listed routes as they are registered, and tells of those that nothing opens: they are registered, but the
 * gate never lets a request pass to them.
 */
export function openRoutes(server: FastifyInstance, paths: OpenPaths, onClosed: (route: string) => void): void {
  server.addHook('onRoute', (route: RouteOptions) => {
    const guard = paths.guarded.find((one) => matches(one.paths, route.url));
    if (matches(paths.operational, route.url)) route.config = { ...route.config, access: 'free', isOperational: true };
    else if (route.config?.access !== undefined) return;
    else if (matches(paths.free, route.url)) route.config = { ...route.config, access: 'free' };
    else if (guard !== undefined) route.config = { ...route.config, access: guard.access };
    else onClosed(`${[route.method].flat().join(', ')} ${route.url}`);
  });
}

function matches(paths: readonly string[], url: string): boolean {
  return paths.some((path) => (path.endsWith('/*') ? url.startsWith(path.slice(0, -1)) : url === path));
}
