import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startChild, type Child } from '../../tools/devnet/processes/child-process.js';

describe('npm run demo -- interop', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-'));
  let demo: Child | undefined;
  afterAll(async () => {
    await demo?.end('SIGTERM', 30_000);
    rmSync(folder, { recursive: true, force: true });
  });

  it('shows what two published clients paid, and that a failure is free', async () => {
    const { PATH, HOME, TOLLGATE_OWN_SERVERS } = process.env;
    const lines: string[] = [];
    demo = await startChild({
      name: 'npm run demo -- interop',
      command: 'npm',
      args: ['run', 'demo', '--', 'interop'],
      env: { PATH, HOME, TOLLGATE_OWN_SERVERS, TOLLGATE_STATE_DIR: folder },
      onLine: (line) => lines.push(line),
    });
    const { code } = await demo.exited;
    expect({ code, end: lines.slice(-20).join('\n') }).toMatchObject({ code: 0 });
    const headers = lines.filter((line) => /^ {2}[<>] .*(payment|authenticate|authorization).*: /.test(line));
    expect(headers).toHaveLength(9);
    for (const header of headers) expect(header).toMatch(/base64 of$|: (true|evm\/charge)$/);
    const moved = lines.filter((line) => line.startsWith('  payer')).map((line) => line.split(/ {2,}/).at(-1));
    expect(moved).toEqual(['-0.001 USDC', '-0.001 USDC', '0 USDC']);
  }, 180_000);
});
