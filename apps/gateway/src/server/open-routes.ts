import type { FastifyInstance, RouteOptions } from 'fastify';

import type { RouteAccess } from './gate.js';

/** Paths that are served without payment; `/docs/*` includes everything below. */
export interface OpenPaths {
  readonly free: readonly string[];
  /** Free, and served over plain HTTP and without rate limit: for monitoring and orchestration. */
  readonly operational: readonly string[];
  /** Paths of pages whose routes cannot set their admission themselves. */
  readonly guarded: readonly { readonly paths: readonly string[]; readonly access: RouteAccess }[];
}

/**
 * Opens the listed routes as they are registered. Calls `onClosed` for routes without an access rule: they are
 * registered, but the gate passes no request to them.
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
