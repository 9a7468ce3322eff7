import { ConfigurationError, readTextFile, type PaymentOption } from '@tollgate/config';

import type { GatewayEnvironment } from '../config/gateway.config.js';
import type { WeatherSourceName } from '../config/weather.environment.js';
import type { PaidRoute } from '../paywall/route/paid-route.js';
import type { RouteContext } from './routes-file/create-proxy-route.js';
import { parseRoutes } from './routes-file/parse-routes.js';
import { createWeatherRoute } from './weather/create-weather-route.js';

/** The maximum of ASSET_DECIMALS. */
const MOST_DECIMALS = 36;
/** Stands for a `PUBLIC_URL` that is reported as invalid. */
const ANY_URL = 'http://localhost';

/**
 * Every paid route: those listed in `ROUTES_FILE`, then the weather if it is sold. `env` has the variables that file refers to.
 * `faulty` names settings that are already reported as invalid, about which nothing more is reported.
 *
 * @throws ConfigurationError listing every problem of the weather's price and of the routes file, each with its place
 */
export function loadPaidRoutes(
  config: GatewayEnvironment,
  env: Readonly<Record<string, string | undefined>> = process.env,
  faulty: ReadonlySet<string> = new Set(),
): PaidRoute[] {
  const problems: string[] = [];
  const routes = [readFile, readWeather].flatMap((read) => {
    try {
      return read(config, env, faulty);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      problems.push(...error.problems);
      return [];
    }
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
  return routes;
}

type ReadRoutes = (...given: Required<Parameters<typeof loadPaidRoutes>>) => PaidRoute[];

const readWeather: ReadRoutes = (config, _env, faulty) => {
  const weatherSource = weatherSourceOf(config, faulty);
  if (weatherSource === 'off' || faulty.has('WEATHER_PRICE')) return [];
  const { weatherUrl, ...others } = config.weather;
  const url = weatherUrl === undefined || faulty.has('WEATHER_URL') ? {} : { weatherUrl };
  return [createWeatherRoute({ ...others, ...url, weatherSource }, optionsOf(config, faulty))];
};

/** The sample is for who has nothing to sell yet. */
function weatherSourceOf({ weather, challenge }: GatewayEnvironment, faulty: ReadonlySet<string>): WeatherSourceName {
  if (faulty.has('WEATHER_SOURCE')) return 'off';
  return weather.weatherSource ?? (challenge.routesFile === undefined ? 'sample' : 'off');
}

const readFile: ReadRoutes = (config, env, faulty) => {
  const { routesFile, signedPayments } = config.challenge;
  if (routesFile === undefined) return [];
  const { maxStoredAnswerBytes } = config.answers;
  // An invalid setting counts as set.
  const publicUrl = faulty.has('PUBLIC_URL') ? ANY_URL : config.server.publicUrl;
  const context = { publicUrl, signedPayments: signedPayments || faulty.has('SIGNED_PAYMENTS') };
  const options = optionsOf(config, faulty);
  const sellsWeather = weatherSourceOf(config, faulty) !== 'off';
  return readRoutesFile(routesFile, { env, options, maxStoredAnswerBytes, sellsWeather, ...context });
};

/** Prices in options about which something is reported already are not. */
function optionsOf(config: GatewayEnvironment, faulty: ReadonlySet<string>): readonly PaymentOption[] {
  return faulty.has('ASSET_DECIMALS')
    ? config.options.map((option) => ({ ...option, decimals: MOST_DECIMALS }))
    : config.options;
}

/** @throws ConfigurationError listing every problem of the file, or why it cannot be read */
function readRoutesFile(file: string, context: RouteContext): PaidRoute[] {
  try {
    return parseRoutes(readTextFile(file), context);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(error.problems.map((problem) => `ROUTES_FILE ${file}: ${problem}`));
  }
}
