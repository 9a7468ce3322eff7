import { WeatherResource, type WeatherData } from './weather-resource.js';

const verification = { isValid: true, txHash: '0xAbC' } as const;

describe('WeatherResource', () => {
  it("responds with the specification's WeatherData, field by field", async () => {
    const reading = { temperatureCelsius: 18.4, humidityPercent: 62, windSpeedKmh: 12.5, weatherCode: 2 };
    const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
    const resource = new WeatherResource('Zürich', { read: async () => reading }, () => nowMs);
    const { status, headers, body } = await resource.produce({ verification });
    expect({ status, headers }).toEqual({
      status: 200,
      headers: [['content-type', 'application/json; charset=utf-8']],
    });
    expect(JSON.parse((body as Buffer).toString())).toEqual({
      location: 'Zürich',
      temperature: '18.4 °C',
      conditions: 'Partly cloudy',
      humidity: '62%',
      windSpeed: '12.5 km/h',
      timestamp: '2026-01-02T03:04:05.006Z',
      payment: { isValid: true, txHash: '0xAbC' },
    } satisfies WeatherData);
  });

  it('has a text for an unknown weather code', async () => {
    const reading = { temperatureCelsius: 1, humidityPercent: 1, windSpeedKmh: 1, weatherCode: 42 };
    const { body } = await new WeatherResource('X', { read: async () => reading }).produce({ verification });
    expect(JSON.parse((body as Buffer).toString()).conditions).toBe('Weather code 42');
  });
});
