import type { GatewayEnvironment } from '../gateway.config.js';
import type { PaidRoute } from '../paywall/paid-route.js';
import { readRoutesFile } from './routes-file/read-routes-file.js';
import { createWeatherRoute } from './weather/create-weather-route.js';

/**
 * Every route that is sold: the weather, and what `ROUTES_FILE` lists. `env` has the variables that file names.
 *
 * @throws ConfigurationError listing every problem of the routes file, each with its place
 */
export function loadPaidRoutes(
  config: GatewayEnvironment,
  env: Readonly<Record<string, string | undefined>> = process.env,
): PaidRoute[] {
  const { assetDecimals } = config.payment;
  const weather = createWeatherRoute(config.weather, assetDecimals);
  const { routesFile } = config.challenge;
  if (routesFile === undefined) return [weather];
  const { maxStoredAnswerBytes } = config.answers;
  return [
    weather,
    ...readRoutesFile(routesFile, { env, assetDecimals, maxStoredAnswerBytes, publicUrl: config.server.publicUrl }),
  ];
}
