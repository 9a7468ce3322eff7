import type { ProducedAnswer, Resource, ResourceRequest } from '../../paywall/route/paid-route.js';

/** The weather at one moment, in WMO units. */
export interface WeatherReading {
  readonly temperatureCelsius: number;
  readonly humidityPercent: number;
  readonly windSpeedKmh: number;
  /** WMO code of the present weather, as used by Open-Meteo: 0 is a clear sky. */
  readonly weatherCode: number;
}

export interface WeatherSource {
  /** @throws UpstreamError if the source returns no reading */
  read(nowMs: number): Promise<WeatherReading>;
}

/** The body of the paid response, with the fields of the protocol's WeatherData. */
export interface WeatherData {
  readonly location: string;
  /** Includes its unit. */
  readonly temperature: string;
  readonly conditions: string;
  readonly humidity: string;
  readonly windSpeed: string;
  /** When this response was produced: ISO 8601, UTC. */
  readonly timestamp: string;
  /** `txHash` is absent where the payment is settled after this response is produced. */
  readonly payment: { readonly isValid: true; readonly txHash?: string };
}

export class WeatherResource implements Resource {
  constructor(
    private readonly location: string,
    private readonly source: WeatherSource,
    private readonly nowMs: () => number = Date.now,
  ) {}

  async produce({ verification }: Pick<ResourceRequest, 'verification'>): Promise<ProducedAnswer> {
    const nowMs = this.nowMs();
    const reading = await this.source.read(nowMs);
    const data: WeatherData = {
      location: this.location,
      temperature: `${reading.temperatureCelsius} °C`,
      conditions: describeConditions(reading.weatherCode),
      humidity: `${reading.humidityPercent}%`,
      windSpeed: `${reading.windSpeedKmh} km/h`,
      timestamp: new Date(nowMs).toISOString(),
      payment: verification,
    };
    return {
      status: 200,
      headers: [['content-type', 'application/json; charset=utf-8']],
      body: Buffer.from(JSON.stringify(data)),
    };
  }
}

/** The WMO codes that Open-Meteo documents for `weather_code`. */
const CONDITIONS: ReadonlyMap<number, string> = new Map([
  [0, 'Clear sky'],
  [1, 'Mainly clear'],
  [2, 'Partly cloudy'],
  [3, 'Overcast'],
  [45, 'Fog'],
  [48, 'Depositing rime fog'],
  [51, 'Light drizzle'],
  [53, 'Moderate drizzle'],
  [55, 'Dense drizzle'],
  [56, 'Light freezing drizzle'],
  [57, 'Dense freezing drizzle'],
  [61, 'Slight rain'],
  [63, 'Moderate rain'],
  [65, 'Heavy rain'],
  [66, 'Light freezing rain'],
  [67, 'Heavy freezing rain'],
  [71, 'Slight snowfall'],
  [73, 'Moderate snowfall'],
  [75, 'Heavy snowfall'],
  [77, 'Snow grains'],
  [80, 'Slight rain showers'],
  [81, 'Moderate rain showers'],
  [82, 'Violent rain showers'],
  [85, 'Slight snow showers'],
  [86, 'Heavy snow showers'],
  [95, 'Thunderstorm'],
  [96, 'Thunderstorm with slight hail'],
  [99, 'Thunderstorm with heavy hail'],
]);

/**
 * The text for a WMO weather code. An unknown code gets a text too, since the payer paid for the rest of the reading.
 */
export function describeConditions(weatherCode: number): string {
  return CONDITIONS.get(weatherCode) ?? `Weather code ${weatherCode}`;
}
