import { ConfigurationError, examineEnvironment } from '@tollgate/config';

import { GatewayEnvironment } from './config/gateway.config.js';
import { judgeHeads } from './paywall/offer/head-sizes.js';
import type { PaidRoute } from './paywall/route/paid-route.js';
import { findUnpayable } from './paywall/verify/signed-validity.js';
import { loadPaidRoutes } from './resources/load-paid-routes.js';

export interface GatewayConfiguration {
  readonly environment: GatewayEnvironment;
  readonly routes: readonly PaidRoute[];
  /** Of both together, to be logged once at the start. */
  readonly warnings: readonly string[];
}

/**
 * The settings of the gateway and its paid routes.
 *
 * @throws ConfigurationError listing the problems of both at once
 */
export function readConfiguration(env: Readonly<Record<string, string | undefined>>): GatewayConfiguration {
  const { result: environment, problems, faulty } = examineEnvironment(GatewayEnvironment, env);
  const routes = readRoutes(environment, env, { problems, faulty });
  if (problems.length > 0) throw new ConfigurationError(problems);
  const heads = judgeHeads(environment, routes);
  const together = [...heads.problems, ...findUnpayable(environment, routes)];
  if (together.length > 0) throw new ConfigurationError(together);
  return { environment, routes, warnings: heads.warnings };
}

function readRoutes(
  environment: GatewayEnvironment,
  env: Readonly<Record<string, string | undefined>>,
  { problems, faulty }: { readonly problems: readonly string[]; readonly faulty: ReadonlySet<string> },
): readonly PaidRoute[] {
  try {
    return loadPaidRoutes(environment, env, faulty);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError([...problems, ...error.problems]);
  }
}
