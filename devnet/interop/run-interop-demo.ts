import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startChain } from '../chain.js';
import { playToEnd } from '../play-to-end.js';
import { openRedis } from '../redis.js';
import { startStack } from '../stack.js';
import { startHttpTap } from './http-tap.js';
import { playInteropDemo } from './play-interop-demo.js';

const ROUTES = `routes:
  - { path: /broken, price: "0.001", upstream: "\${UPSTREAM}" }
`;

/** Shows published clients paying the gateway, and a failed answer that costs nothing. Resolves with the exit code. */
export function runInteropDemo(): Promise<number> {
  return playToEnd(async ({ keep, keepStack }) => {
    const routes = keep(writeRoutes());
    const upstream = keep(await startBrokenUpstream());
    const redis = keep(await openRedis(process.env['REDIS_URL']));
    const chain = keep(await startChain());
    const tap = keep(await startHttpTap());
    const stack = keepStack(
      await startStack({
        redis,
        chain,
        env: {
          SIGNED_PAYMENTS: 'true',
          PUBLIC_URL: tap.url,
          ROUTES_FILE: routes.file,
          UPSTREAM: upstream.url,
        },
        onReady: (part, url) => console.log(`✓ ${part} at ${url}`),
      }),
    );
    tap.forwardTo(stack.baseUrl);
    await playInteropDemo(chain, tap, keep);
    console.log('\nEvery check passed. All clients and servers that were tested: docs/interop.md.');
  });
}

function writeRoutes(): { file: string; stop(): Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-routes-'));
  const file = join(folder, 'routes.yaml');
  writeFileSync(file, ROUTES);
  return { file, stop: async () => rmSync(folder, { recursive: true, force: true }) };
}

async function startBrokenUpstream(): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((_, response) => {
    response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"the database is gone"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
