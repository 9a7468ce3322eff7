import type { GatewayEnvironment } from '../gateway.config.js';
import type { PaidRoute } from '../paywall/paid-route.js';
import { createWeatherRoute } from './weather/create-weather-route.js';

/**
 * Every route that is sold: the weather, and what `ROUTES_FILE` lists.
 *
 * @throws ConfigurationError listing every problem of the routes file, each with its place
 */
export function loadPaidRoutes(config: GatewayEnvironment): PaidRoute[] {
  return [createWeatherRoute(config.weather, config.payment.assetDecimals)];
}
