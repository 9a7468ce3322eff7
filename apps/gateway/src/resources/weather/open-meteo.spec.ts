import { startRawUpstream, startUpstream, type Upstream } from '../../../../../test/flows/start-upstream.js';
import { UpstreamError } from '../../paywall/route/paid-route.js';
import { OpenMeteo, type OpenMeteoOptions } from './open-meteo.js';

/** A response of the service. */
const FORECAST = {
  latitude: 37.763283,
  longitude: -122.41286,
  generationtime_ms: 0.05,
  utc_offset_seconds: 0,
  timezone: 'GMT',
  timezone_abbreviation: 'GMT',
  elevation: 18,
  current_units: {
    time: 'iso8601',
    interval: 'seconds',
    temperature_2m: '°C',
    relative_humidity_2m: '%',
    wind_speed_10m: 'km/h',
    weather_code: 'wmo code',
  },
  current: {
    time: '2026-01-02T03:00',
    interval: 900,
    temperature_2m: 9.8,
    relative_humidity_2m: 88,
    wind_speed_10m: 5.9,
    weather_code: 61,
  },
};
const READING = { temperatureCelsius: 9.8, humidityPercent: 88, windSpeedKmh: 5.9, weatherCode: 61 };

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

function started<T extends Upstream>(upstream: T): T {
  stops.push(() => upstream.stop());
  return upstream;
}

function source(url: string, options: Partial<OpenMeteoOptions> = {}): OpenMeteo {
  const openMeteo = new OpenMeteo({ latitude: 37.7749, longitude: -122.4194, url, ...options });
  stops.push(() => openMeteo.close());
  return openMeteo;
}

async function service(status = 200, body: unknown = FORECAST) {
  return started(
    await startUpstream((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    }),
  );
}

describe('OpenMeteo', () => {
  it('requests the current weather of the place from the forecast API', async () => {
    const { url, requests } = await service();
    expect(await source(`${url}/base/`).read(0)).toEqual(READING);
    const asked = new URL(requests[0]!.url, url);
    expect(asked.pathname).toBe('/base/v1/forecast');
    expect(Object.fromEntries(asked.searchParams)).toEqual({
      latitude: '37.7749',
      longitude: '-122.4194',
      current: 'temperature_2m,relative_humidity_2m,wind_speed_10m,weather_code',
      temperature_unit: 'celsius',
      wind_speed_unit: 'kmh',
    });
  });

  it('caches a fresh reading, and shares one request between concurrent payers', async () => {
    const { url, requests } = await service();
    const openMeteo = source(url);
    const readings = await Promise.all(Array.from({ length: 20 }, () => openMeteo.read(0)));
    expect(readings).toEqual(Array.from({ length: 20 }, () => READING));
    await openMeteo.read(59_999);
    expect(requests).toHaveLength(1);
    await openMeteo.read(60_000);
    expect(requests).toHaveLength(2);
  });

  it('repeats the request after a failure', async () => {
    const upstream = await service(500, 'no');
    const openMeteo = source(upstream.url);
    await expect(openMeteo.read(0)).rejects.toThrow(UpstreamError);
    upstream.answer = (_, response) => response.end(JSON.stringify(FORECAST));
    expect(await openMeteo.read(0)).toEqual(READING);
  });

  const { current, current_units } = FORECAST;
  it.each([
    ['an error of the server', 500, 'Internal Server Error', 'it responded with status 500'],
    ['its limit', 429, { error: true, reason: 'Minutely API request limit exceeded.' }, 'it responded with status 429'],
    ['a bad request', 400, { error: true, reason: 'Latitude must be in range' }, 'it responded with status 400'],
    ['a redirect', 302, '', 'it responded with status 302'],
    ['an HTML page', 200, '<html>', 'not JSON'],
    ['no object', 200, '[]', 'the response is not an object'],
    ['no reading', 200, { ...FORECAST, current: undefined }, 'current is not an object'],
    ['no units', 200, { ...FORECAST, current_units: null }, 'current_units is not an object'],
    ['a gap', 200, { ...FORECAST, current: { ...current, temperature_2m: null } }, 'current.temperature_2m'],
    ['text for a number', 200, { ...FORECAST, current: { ...current, wind_speed_10m: '5' } }, 'current.wind_speed_10m'],
    ['nonsense', 200, { ...FORECAST, current: { ...current, relative_humidity_2m: 400 } }, 'relative_humidity_2m'],
    ['another unit', 200, { ...FORECAST, current_units: { ...current_units, temperature_2m: '°F' } }, 'not in °C'],
    ['more than it should', 200, ' '.repeat(70_000) + JSON.stringify(FORECAST), 'larger than 65536 bytes'],
  ])('returns no reading, so that no payer is charged, for %s', async (_, status, body, message) => {
    const { url } = await service(status, body);
    const reading = source(url).read(0);
    await expect(reading).rejects.toThrow(UpstreamError);
    await expect(reading).rejects.toMatchObject({ kind: 'failed', message: expect.stringContaining(message) });
  });

  it.each([
    ['hangs', ''],
    ['stops in the middle', 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"current":'],
  ])('times out for a service that %s', async (_, head) => {
    const { url } = started(await startRawUpstream((socket) => socket.write(head)));
    const reading = source(url, { timeoutMs: 1000 }).read(0);
    await expect(reading).rejects.toMatchObject({ kind: 'failed', options: { timedOut: true } });
  });

  it('reports a service that breaks off or is unreachable as failed', async () => {
    const upstream = await startRawUpstream((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{'));
    const openMeteo = source(upstream.url);
    await expect(openMeteo.read(0)).rejects.toMatchObject({ kind: 'failed' });
    await upstream.stop();
    await expect(openMeteo.read(0)).rejects.toMatchObject({ kind: 'failed' });
  });
});
