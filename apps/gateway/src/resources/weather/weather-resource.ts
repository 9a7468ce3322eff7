import type { ProducedAnswer, Resource, ResourceRequest } from '../../paywall/route/paid-route.js';
import { describeConditions } from './describe-conditions.js';
import type { WeatherSource } from './weather-source.js';

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
