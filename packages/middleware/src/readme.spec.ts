import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { waitFor } from '../../../test/harness/retry.js';
import { findFreePort } from '../../../tools/devnet/processes/free-port.js';
import { VERSIONS } from '../test/create-payment.js';
import { listen, serveFetch } from '../test/serve-fetch.js';
import { startFacilitator, type ScriptedFacilitator } from '../test/start-facilitator.js';

const FOLDER = 'examples/sell-from-your-server';
const readme = readFileSync('packages/middleware/README.md', 'utf8');

interface Started {
  readonly url: string;
  readonly stop: () => Promise<unknown>;
}

describe('the examples of the README', () => {
  let facilitator: ScriptedFacilitator;

  beforeAll(async () => {
    facilitator = await startFacilitator();
    process.env['FACILITATOR_URL'] = facilitator.url;
  });

  afterAll(() => facilitator.stop());

  async function startProgram(file: string): Promise<Started> {
    const port = await findFreePort();
    const program = spawn(process.execPath, ['--import', 'tsx', `${FOLDER}/${file}`], {
      env: { PATH: process.env['PATH'], PORT: String(port), FACILITATOR_URL: facilitator.url },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const ended = new Promise((resolve) => program.once('exit', resolve));
    const url = `http://127.0.0.1:${port}`;
    const isUp = () =>
      fetch(url).then(
        () => true,
        () => false,
      );
    await waitFor(`${file} listens`, isUp);
    return { url, stop: () => (program.kill(), ended) };
  }

  const start: Record<string, () => Promise<Started>> = {
    'express.ts': () => startProgram('express.ts'),
    'fastify.ts': () => startProgram('fastify.ts'),
    'hono.ts': async () => {
      const { default: app } = await import('../../../examples/sell-from-your-server/hono.js');
      return listen(serveFetch((request) => app.fetch(request)));
    },
    'next.ts': async () => {
      const { GET } = await import('../../../examples/sell-from-your-server/next.js');
      return listen(serveFetch(GET));
    },
  };

  it.each(['gate.ts', 'gate-over-redis.ts', ...Object.keys(start)])('match the file %s', (file) => {
    expect(readme).toContain(`\`\`\`ts\n${readFileSync(`${FOLDER}/${file}`, 'utf8')}\`\`\``);
  });

  it.each(Object.keys(start))('sell the weather when run: %s', async (file) => {
    const { url, stop } = await start[file]!();
    try {
      expect((await fetch(`${url}/weather`)).status).toBe(402);
      const response = await fetch(`${url}/weather`, { headers: VERSIONS[2].pay() });
      expect([response.status, await response.json()]).toEqual([200, { conditions: 'sunny' }]);
    } finally {
      await stop();
    }
  });
});
