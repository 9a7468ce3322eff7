import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { useStack } from '../harness/stack/use-stack.js';

const EXAMPLE = 'examples/pay-from-your-code/pay.ts';

describe('the example "Pay from your own code"', () => {
  const stack = useStack();
  const folder = mkdtempSync(join(tmpdir(), 'pay-from-your-code-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is what docs/pay.md shows', () => {
    expect(readFileSync('docs/pay.md', 'utf8')).toContain(`\`\`\`ts\n${readFileSync(EXAMPLE, 'utf8')}\`\`\``);
  });

  it('pays and gets the weather', async () => {
    const { baseUrl, chain } = stack();
    const command = [resolve('node_modules/tsx/dist/cli.mjs'), resolve(EXAMPLE), `${baseUrl}/api/weather`];
    const env = {
      PATH: process.env['PATH'],
      XDG_STATE_HOME: folder,
      TSX_TSCONFIG_PATH: resolve('tsconfig.json'),
      WALLET_PRIVATE_KEY: chain.accounts[0]!.privateKey,
      RPC_URL: chain.rpcUrl,
    };
    const { stdout } = await promisify(execFile)(process.execPath, command, { env, cwd: folder });
    expect(stdout).toMatch(/^200 \{\n  location: 'San Francisco',/);
    expect(stdout).toMatch(/payment: \{\n? *isValid: true/);
  });
});
