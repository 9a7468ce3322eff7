import { readFileSync } from 'node:fs';
import { request, type RequestOptions } from 'node:https';
import { json } from 'node:stream/consumers';

import { borrowRedis, type BorrowedRedis } from '../../../test/harness/stack/borrow-redis.js';
import { createRoute, startGateway, type RunningGateway, startAgreeingVerifier } from '../test/start-gateway.js';

const CERTIFICATE = 'test/certificates/localhost.cert.pem';

describe('a gateway with a certificate', () => {
  let redis: BorrowedRedis;
  let stopVerifier: () => Promise<void>;
  let gateway: RunningGateway;

  beforeAll(async () => {
    redis = await borrowRedis();
    stopVerifier = await startAgreeingVerifier(redis.url);
    const route = createRoute(() => ({ status: 200, headers: [], body: Buffer.from('{}') }));
    gateway = await startGateway(redis.url, [route], {
      TLS_CERT: CERTIFICATE,
      TLS_KEY: 'test/certificates/localhost.key.pem',
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await stopVerifier();
    await redis.stop();
  });

  it('sends the challenge over HTTPS to a client that trusts its certificate', async () => {
    const answer = await get({ ca: readFileSync(CERTIFICATE) });
    expect(answer).toMatchObject({ status: 402, body: { x402Version: 1 } });
  });

  it('is refused by a client that does not trust it', async () => {
    await expect(get({})).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });

  it('does not speak plain HTTP on the same port', async () => {
    await expect(fetch(gateway.url.replace('https', 'http'))).rejects.toThrow();
  });

  function get(options: RequestOptions): Promise<{ status: number | undefined; body: unknown }> {
    return new Promise((resolve, reject) => {
      request(`${gateway.url}/api/weather`, { ...options, agent: false }, (response) => {
        json(response).then((body) => resolve({ status: response.statusCode, body }), reject);
      })
        .on('error', reject)
        .end();
    });
  }
});
