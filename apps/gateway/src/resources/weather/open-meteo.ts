import { Agent } from 'undici';

import { UpstreamError } from '../../paywall/route/paid-route.js';
import type { WeatherReading, WeatherSource } from './weather-resource.js';

const OPEN_METEO_URL = 'https://api.open-meteo.com';
/** How long a reading is cached: the service updates its readings every 15 minutes. */
const FRESH_FOR_MS = 60_000;
export const OPEN_METEO_TIMEOUT_MS = 5_000;

export interface OpenMeteoOptions {
  readonly latitude: number;
  readonly longitude: number;
  /** Base URL of the service. */
  readonly url?: string | undefined;
  readonly timeoutMs?: number;
  readonly maxAnswerBytes?: number;
}

/**
 * Current weather from the forecast API of Open-Meteo, requested at most once a minute however many requests are paid.
 */
export class OpenMeteo implements WeatherSource {
  readonly #timeoutMs: number;
  readonly #agent: Agent;
  readonly #url: URL;
  #kept: { readonly reading: WeatherReading; readonly untilMs: number } | null = null;
  #asking: Promise<WeatherReading> | null = null;

  constructor(private readonly options: OpenMeteoOptions) {
    this.#timeoutMs = options.timeoutMs ?? OPEN_METEO_TIMEOUT_MS;
    // undici heeds a request's signal only once it has a connection.
    this.#agent = new Agent({ connect: { timeout: this.#timeoutMs } });
    const base = options.url ?? OPEN_METEO_URL;
    this.#url = new URL(`${base.replace(/\/+$/, '')}/v1/forecast`);
    this.#url.search = new URLSearchParams({
      latitude: String(options.latitude),
      longitude: String(options.longitude),
      current: 'temperature_2m,relative_humidity_2m,wind_speed_10m,weather_code',
      temperature_unit: 'celsius',
      wind_speed_unit: 'kmh',
    }).toString();
  }

  async read(nowMs: number): Promise<WeatherReading> {
    if (this.#kept !== null && nowMs < this.#kept.untilMs) return this.#kept.reading;
    this.#asking ??= this.#ask().finally(() => (this.#asking = null));
    const reading = await this.#asking;
    this.#kept = { reading, untilMs: nowMs + FRESH_FOR_MS };
    return reading;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #ask(): Promise<WeatherReading> {
    // One timeout for the whole call: a body that trickles in must not hold up the payers that wait for it.
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      const { origin, pathname, search } = this.#url;
      const headers = { accept: 'application/json' };
      const answer = await this.#agent.request({ origin, path: pathname + search, method: 'GET', headers, signal });
      const text = await readText(answer.body, this.options.maxAnswerBytes ?? 65_536);
      if (answer.statusCode !== 200) throw new Error(`it responded with status ${answer.statusCode}`);
      return parseOpenMeteo(text);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const timedOut = signal.aborted;
      throw new UpstreamError('failed', `The weather service returned no reading: ${reason}`, { cause, timedOut });
    }
  }
}

async function readText(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`its response is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Parses the `current` block of an Open-Meteo forecast.
 *
 * @throws Error naming the field that is missing or invalid
 */
function parseOpenMeteo(text: string): WeatherReading {
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
