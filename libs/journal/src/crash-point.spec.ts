import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { crashPoint } from './crash-point.js';

const run = promisify(execFile);

describe('a crash point', () => {
  let heard: string[];

  beforeEach(() => {
    heard = [];
    globalThis.tollgateCrashPoint = (point) => heard.push(point);
  });

  afterEach(() => {
    globalThis.tollgateCrashPoint = undefined;
  });

  it('calls the function that a test has installed', () => {
    crashPoint('F4');
    expect(heard).toEqual(['F4']);
    globalThis.tollgateCrashPoint = undefined;
    crashPoint('F5');
    expect(heard).toEqual(['F4']);
  });

  it('is removed from a built service, whatever its process has loaded', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'crash-point-'));
    try {
      await run(process.execPath, ['libs/journal/test/build-crash-point.mjs', directory]);
      const file = join(directory, 'built.cjs');
      expect(readFileSync(file, 'utf8')).not.toContain('tollgateCrashPoint');
      const built = createRequire(__filename)(file) as { crashPoint: typeof crashPoint };
      built.crashPoint('F4');
      expect(heard).toEqual([]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
