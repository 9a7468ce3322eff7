/** The weather at one moment, in the units of the WMO. */
export interface WeatherReading {
  readonly temperatureCelsius: number;
  readonly humidityPercent: number;
  readonly windSpeedKmh: number;
  /** WMO code of the present weather, as Open-Meteo uses them: 0 is a clear sky. */
  readonly weatherCode: number;
}

export interface WeatherSource {
  /** @throws UpstreamError where the source gives no reading */
  read(nowMs: number): Promise<WeatherReading>;
}
