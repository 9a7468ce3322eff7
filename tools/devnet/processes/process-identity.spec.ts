import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { createOwnFolder } from '../../../scripts/process-identity.mjs';

describe('a folder named after its process', () => {
  const parent = mkdtempSync(join(tmpdir(), 'tollgate-folders-'));
  afterAll(() => rmSync(parent, { recursive: true }));

  it('is removed by the next process that makes one of its kind, once its own has ended', () => {
    const ended = spawnSync('true').pid;
    const left = `tests-${ended}-AbC123`;
    const kept = [
      `other-${ended}-AbC123`,
      `tests-${process.pid}-AbC123`,
      `tests-${ended}`,
      `tests-${process.ppid}-AbC123`,
    ];
    for (const name of [left, ...kept]) mkdirSync(join(parent, name, 'files'), { recursive: true });
    const made = basename(createOwnFolder(parent, 'tests'));
    expect(made).toMatch(new RegExp(`^tests-${process.pid}-\\w{6}$`));
    expect(readdirSync(parent).sort()).toEqual([made, ...kept].sort());
  });
});
