import { readEnvironment } from '@tollgate/common';

import { ServerEnvironment } from '../config/server.environment.js';
import { createServer } from './create-server.js';

describe('a route on the server', () => {
  it('is closed unless it has an access rule, and is logged at the start', async () => {
    const paths = { free: ['/free', '/docs/*'], operational: ['/health'], guarded: [] };
    const { server, completeRoutes, closedRoutes } = createServer(readEnvironment(ServerEnvironment, {}), paths);
    for (const path of ['/free', '/docs/a', '/health', '/forgotten']) server.get(path, async () => 'served');
    server.get('/says-so', { config: { access: 'free' } }, async () => 'served');
    completeRoutes();
    await server.ready();
    const statusOf = async (url: string): Promise<number> => (await server.inject({ url })).statusCode;
    for (const path of ['/free', '/docs/a', '/health', '/says-so', '/FREE/']) expect(await statusOf(path)).toBe(200);
    for (const path of ['/forgotten', '/Forgotten/', '//forgotten', '/%66orgotten']) {
      expect(await statusOf(path)).toBe(403);
    }
    expect((await server.inject({ method: 'HEAD', url: '/forgotten' })).statusCode).toBe(403);
    expect(closedRoutes).toEqual(['GET /forgotten', 'HEAD /forgotten']);
    await server.close();
  });
});

describe('a certificate that cannot be read', () => {
  it('is a configuration error', () => {
    const environment = readEnvironment(ServerEnvironment, { TLS_CERT: '/no/cert.pem', TLS_KEY: '/no/key.pem' });
    expect(() => createServer(environment, { free: [], operational: [], guarded: [] })).toThrow(
      'TLS_CERT: the file /no/cert.pem',
    );
  });
});
