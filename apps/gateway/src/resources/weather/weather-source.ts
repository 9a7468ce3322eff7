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
