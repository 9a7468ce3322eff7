import { ConfigurationError, examineEnvironment } from '@tollgate/common';

import { GatewayEnvironment } from './config/gateway.config.js';
import type { PaidRoute } from './paywall/route/paid-route.js';
import { loadPaidRoutes } from './resources/load-paid-routes.js';

export interface GatewayConfiguration {
  readonly environment: GatewayEnvironment;
  readonly routes: readonly PaidRoute[];
}

/**
 * The settings of the gateway and its paid routes.
 *
 * @throws ConfigurationError listing the problems of both at once
 */
export function readConfiguration(env: Readonly<Record<string, string | undefined>>): GatewayConfiguration {
  const { result: environment, problems, faulty } = examineEnvironment(GatewayEnvironment, env);
  try {
    const routes = loadPaidRoutes(environment, env, faulty);
    if (problems.length === 0) return { environment, routes };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError([...problems, ...error.problems]);
  }
  throw new ConfigurationError(problems);
}
