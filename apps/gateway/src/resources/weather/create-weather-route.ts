import { ConfigurationError, type PaymentOption } from '@tollgate/config';

import type { WeatherEnvironment, WeatherSourceName } from '../../config/weather.environment.js';
import { acceptsOption } from '../../paywall/route/options-of-route.js';
import type { PaidRoute } from '../../paywall/route/paid-route.js';
import { findPriceProblems } from '../../paywall/route/price-of.js';
import { OPEN_METEO_TIMEOUT_MS, OpenMeteo } from './open-meteo.js';
import { SampleWeather } from './sample-weather.js';
import { WeatherResource, type WeatherData, type WeatherSource } from './weather-resource.js';

export const WEATHER_PATH = '/api/weather';

/** The settings of a weather that is sold. */
export interface SoldWeather extends Omit<WeatherEnvironment, 'weatherSource'> {
  readonly weatherSource: Exclude<WeatherSourceName, 'off'>;
}

/** @throws ConfigurationError if the price is 0 or no whole number of base units in one of the options */
export function createWeatherRoute(weather: SoldWeather, options: readonly PaymentOption[]): PaidRoute {
  const { weatherPrice: price } = weather;
  const problems = findPriceProblems(
    price,
    options.filter((option) => acceptsOption({}, option)),
  );
  if (problems.length > 0) throw new ConfigurationError(problems.map((problem) => `WEATHER_PRICE: ${problem}`));
  return {
    path: WEATHER_PATH,
    methods: ['GET'],
    price,
    description: `Current weather in ${weather.weatherLocation}`,
    mimeType: 'application/json',
    answer: 'stored',
    chargeOn: '<400',
    settle: 'after',
    ...(weather.weatherSource === 'open-meteo' && { timeLimitMs: OPEN_METEO_TIMEOUT_MS }),
    answerSchema: { name: 'WeatherData', schema: WEATHER_SCHEMA },
    resource: new WeatherResource(weather.weatherLocation, createSource(weather)),
  };
}

function createSource(weather: SoldWeather): WeatherSource {
  const place = { latitude: weather.weatherLatitude, longitude: weather.weatherLongitude };
  switch (weather.weatherSource) {
    case 'sample':
      return new SampleWeather(place);
    case 'open-meteo':
      return new OpenMeteo({ ...place, url: weather.weatherUrl });
  }
}

const TEXT = { type: 'string' };

const PROPERTIES: Record<keyof WeatherData, object> = {
  location: TEXT,
  temperature: { ...TEXT, description: 'including the unit' },
  conditions: TEXT,
  humidity: { ...TEXT, description: 'in percent' },
  windSpeed: { ...TEXT, description: 'including the unit' },
  timestamp: { ...TEXT, format: 'date-time', description: 'when this response was produced' },
  payment: {
    type: 'object',
    description: 'VerificationResult',
    properties: { isValid: { type: 'boolean' }, txHash: TEXT },
    required: ['isValid'],
  },
};

/** JSON schema of `WeatherData`. */
const WEATHER_SCHEMA = { type: 'object', properties: PROPERTIES, required: Object.keys(PROPERTIES) };
