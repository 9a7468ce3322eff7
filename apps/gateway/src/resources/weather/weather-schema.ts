import type { WeatherData } from './weather-resource.js';

const text = { type: 'string' };

const PROPERTIES: Record<keyof WeatherData, object> = {
  location: text,
  temperature: { ...text, description: 'including the unit' },
  conditions: text,
  humidity: { ...text, description: 'in percent' },
  windSpeed: { ...text, description: 'including the unit' },
  timestamp: { ...text, format: 'date-time', description: 'when this response was produced' },
  payment: {
    type: 'object',
    description: 'VerificationResult',
    properties: { isValid: { type: 'boolean' }, txHash: text },
    required: ['isValid'],
  },
};

/** JSON schema of `WeatherData`. */
export const WEATHER_SCHEMA = { type: 'object', properties: PROPERTIES, required: Object.keys(PROPERTIES) };
