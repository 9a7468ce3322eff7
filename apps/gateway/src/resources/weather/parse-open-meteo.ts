import type { WeatherReading } from './weather-source.js';

/**
 * Parses the `current` block of an Open-Meteo forecast.
 *
 * @throws Error naming the field that is missing or invalid
 */
export function parseOpenMeteo(text: string): WeatherReading {
  const { current, current_units: units } = asRecord(parseJson(text), 'the response');
  const values = asRecord(current, 'current');
  const unitOf = asRecord(units, 'current_units');
  return {
    temperatureCelsius: measure(values, unitOf, 'temperature_2m', '°C', [-150, 100]),
    humidityPercent: Math.round(measure(values, unitOf, 'relative_humidity_2m', '%', [0, 100])),
    windSpeedKmh: measure(values, unitOf, 'wind_speed_10m', 'km/h', [0, 1_000]),
    weatherCode: measure(values, unitOf, 'weather_code', 'wmo code', [0, 99]),
  };
}

function measure(
  values: Record<string, unknown>,
  units: Record<string, unknown>,
  name: string,
  unit: string,
  [low, high]: [number, number],
): number {
  const value = values[name];
  if (typeof value !== 'number' || !(value >= low && value <= high))
    throw new Error(`current.${name} is not a number from ${low} to ${high}`);
  if (units[name] !== unit) throw new Error(`current.${name} is not in ${unit}`);
  return value;
}

function asRecord(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${name} is not an object`);
  return value as Record<string, unknown>;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error('the response is not JSON', { cause });
  }
}
