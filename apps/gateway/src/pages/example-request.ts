import type { PaidRoute } from '../paywall/route/paid-route.js';

export interface ExampleRequest {
  readonly route: PaidRoute;
  readonly method: string;
  readonly url: string;
}

/** A request of the first route that is sold; what its reader has to fill in is in capitals. Null where nothing is sold. */
export function createExampleRequest([route]: readonly PaidRoute[], originUrl: string): ExampleRequest | null {
  if (route === undefined) return null;
  const { path, methods } = route;
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => name.toUpperCase()).replace(/\*$/, 'PATH');
  return { route, method: methods.includes('GET') ? 'GET' : (methods[0] ?? 'GET'), url: originUrl + filled };
}
