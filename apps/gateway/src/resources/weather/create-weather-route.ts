import { ConfigurationError } from '@tollgate/config';
import { parseTokenAmount, PaymentError } from '@tollgate/protocol';

import type { WeatherEnvironment, WeatherSourceName } from '../../config/weather.environment.js';
import type { PaidRoute } from '../../paywall/route/paid-route.js';
import { OPEN_METEO_TIMEOUT_MS, OpenMeteo } from './open-meteo.js';
import { SampleWeather } from './sample-weather.js';
import { WeatherResource, type WeatherData, type WeatherSource } from './weather-resource.js';

export const WEATHER_PATH = '/api/weather';

/** The settings of a weather that is sold. */
export interface SoldWeather extends Omit<WeatherEnvironment, 'weatherSource'> {
  readonly weatherSource: Exclude<WeatherSourceName, 'off'>;
}

/** @throws ConfigurationError if the price is 0 or has more decimals than the asset */
export function createWeatherRoute(weather: SoldWeather, assetDecimals: number): PaidRoute {
  return {
    path: WEATHER_PATH,
    methods: ['GET'],
    priceBaseUnits: parsePrice(weather.weatherPrice, assetDecimals),
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

function parsePrice(text: string, assetDecimals: number): bigint {
  try {
    const price = parseTokenAmount(text, assetDecimals);
    if (price > 0n) return price;
    throw new ConfigurationError(['WEATHER_PRICE is 0: every price must be above 0.']);
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    throw new ConfigurationError([`WEATHER_PRICE: ${error.message} ${error.hint ?? ''}`.trim()]);
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
