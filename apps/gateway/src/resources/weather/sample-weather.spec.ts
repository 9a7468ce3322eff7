import fc from 'fast-check';

import { SampleWeather } from './sample-weather.js';
import { describeConditions } from './weather-resource.js';

const place = { latitude: 37.7749, longitude: -122.4194 };
const HOUR_MS = 3_600_000;

describe('SampleWeather', () => {
  it('depends only on place and time', async () => {
    const nowMs = Date.UTC(2026, 6, 1, 22);
    const reading = await new SampleWeather(place).read(nowMs);
    expect(await new SampleWeather(place).read(nowMs)).toEqual(reading);
    expect(await new SampleWeather({ ...place, latitude: -33.9 }).read(nowMs)).not.toEqual(reading);
    expect(await new SampleWeather(place).read(nowMs + 24 * HOUR_MS)).not.toEqual(reading);
  });

  it('is warmer in the afternoon than at night, and in summer than in winter, on both halves of the globe', async () => {
    const mean = async (latitude: number, month: number, hour: number) => {
      const source = new SampleWeather({ latitude, longitude: 0 });
      const days = Array.from({ length: 28 }, (_, day) => source.read(Date.UTC(2026, month, day + 1, hour)));
      return (await Promise.all(days)).reduce((sum, { temperatureCelsius }) => sum + temperatureCelsius, 0) / 28;
    };
    expect(await mean(50, 6, 15)).toBeGreaterThan(await mean(50, 6, 3));
    expect(await mean(50, 6, 15)).toBeGreaterThan(await mean(50, 0, 15));
    expect(await mean(-50, 0, 15)).toBeGreaterThan(await mean(-50, 6, 15));
  });

  it('is plausible at any place and time, and changes slowly', async () => {
    const anywhere = fc.record({
      latitude: fc.double({ min: -90, max: 90, noNaN: true }),
      longitude: fc.double({ min: -180, max: 180, noNaN: true }),
    });
    const anytime = fc.integer({ min: 0, max: Date.UTC(2100, 0) });
    await fc.assert(
      fc.asyncProperty(anywhere, anytime, async (where, nowMs) => {
        const source = new SampleWeather(where);
        const [now, soon] = [await source.read(nowMs), await source.read(nowMs + 60_000)];
        expect(now.temperatureCelsius).toBeGreaterThan(-40);
        expect(now.temperatureCelsius).toBeLessThan(45);
        expect(now.humidityPercent).toBeGreaterThanOrEqual(15);
        expect(now.humidityPercent).toBeLessThanOrEqual(100);
        expect(now.windSpeedKmh).toBeGreaterThanOrEqual(0);
        expect(now.windSpeedKmh).toBeLessThan(60);
        expect(describeConditions(now.weatherCode)).not.toMatch(/^Weather code/);
        expect(Math.abs(now.temperatureCelsius - soon.temperatureCelsius)).toBeLessThan(0.5);
      }),
    );
  });
});
