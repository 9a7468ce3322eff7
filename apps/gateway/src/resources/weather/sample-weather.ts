import type { WeatherReading, WeatherSource } from './weather-resource.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365.2425 * DAY_MS;
/** Northern midsummer of 1970: the maximum of the seasonal curve. */
const MIDSUMMER_MS = 200 * DAY_MS;

/**
 * Invented weather that needs no network: a curve over the day and the year with some variation, the same for the same
 * place and minute.
 */
export class SampleWeather implements WeatherSource {
  constructor(private readonly place: { readonly latitude: number; readonly longitude: number }) {}

  async read(nowMs: number): Promise<WeatherReading> {
    const { latitude, longitude } = this.place;
    const warmestAt = 15 * HOUR_MS - (longitude / 15) * HOUR_MS;
    const day = Math.cos(((nowMs - warmestAt) / DAY_MS) * 2 * Math.PI);
    const year = Math.cos(((nowMs - MIDSUMMER_MS) / YEAR_MS) * 2 * Math.PI) * Math.sign(latitude || 1);
    const span = Math.abs(latitude) / 90;

    const cloudiness = this.#unrest(nowMs, 'clouds');
    const wet = cloudiness > 0.7;
    const temperature = 27 - 32 * span + 16 * span * year + (5 - 3 * cloudiness) * day;
    return {
      temperatureCelsius: round(temperature),
      humidityPercent: Math.round(clamp(55 + 30 * cloudiness - 12 * day, 15, 100)),
      windSpeedKmh: round(3 + 24 * this.#unrest(nowMs, 'wind')),
      weatherCode: wet ? precipitationCode(cloudiness, temperature) : Math.min(3, Math.floor(cloudiness / 0.18)),
    };
  }

  /** A value between 0 and 1 that moves smoothly from one three-hour mark to the next. */
  #unrest(nowMs: number, kind: string): number {
    const mark = Math.floor(nowMs / (3 * HOUR_MS));
    const between = nowMs / (3 * HOUR_MS) - mark;
    const ease = between * between * (3 - 2 * between);
    const from = this.#chance(mark, kind);
    return from + (this.#chance(mark + 1, kind) - from) * ease;
  }

  #chance(mark: number, kind: string): number {
    let hash = 0x811c9dc5; // FNV-1a
    for (const character of `${kind}|${mark}|${this.place.latitude}|${this.place.longitude}`) {
      hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
    }
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
    return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
  }
}

function precipitationCode(cloudiness: number, temperatureCelsius: number): number {
  const heavy = cloudiness > 0.9 ? 2 : cloudiness > 0.8 ? 1 : 0;
  return (temperatureCelsius < 1 ? 71 : 61) + 2 * heavy;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
