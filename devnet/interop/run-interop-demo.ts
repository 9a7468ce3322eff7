import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startChain } from '../chain.js';
import { openRedis } from '../redis.js';
import { startStack, type Stack } from '../stack.js';
import { waitForStopRequest } from '../stop-request.js';
import { startHttpTap } from './http-tap.js';
import { playInteropDemo } from './play-interop-demo.js';

const ROUTES = `routes:
  - { path: /broken, price: "0.001", upstream: "\${UPSTREAM}" }
`;

/** Shows published clients paying the gateway, and an answer that nobody is charged for. Resolves with the exit code. */
export async function runInteropDemo(): Promise<number> {
  const stopRequest = waitForStopRequest();
  const parts: { stop(): Promise<void> }[] = [];
  const keep = <Part extends { stop(): Promise<void> }>(part: Part): Part => {
    parts.push(part);
    return part;
  };
  let stack: Stack | null = null;
  const play = async () => {
    const routes = keep(writeRoutes());
    const upstream = keep(await startBrokenUpstream());
    const redis = keep(await openRedis(process.env['REDIS_URL']));
    const chain = keep(await startChain());
    const tap = keep(await startHttpTap());
    stack = keep(
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
    console.log('\nAll as it should be. With whose clients and servers it works: docs/interop.md.');
  };
  try {
    const end = await Promise.race([play(), stopRequest]);
    return end === undefined ? 0 : 130;
  } catch (error) {
    console.error(`\n✗ ${error instanceof Error ? error.message : String(error)}`);
    const logs = (stack as Stack | null)?.logs() ?? '';
    if (logs !== '') console.error(`\nThe last lines of the processes:\n${logs}`);
    return 1;
  } finally {
    for (const part of parts.reverse()) await part.stop();
  }
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
