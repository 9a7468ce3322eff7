// Packs the published packages and checks each tarball: its package.json by publint, its types by "are the types wrong".
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

import { packPackages } from '../release/pack-packages.mjs';

/** The packages are for resolvers that read `exports`. */
const IGNORED_RESOLUTION = 'node10';
/** `require` loads the ES modules, whose declarations for CommonJS differ in default exports alone: there are none. */
const IGNORED_PROBLEMS = ['CJSResolvesToESM', 'FalseCJS'];
const IGNORED_MESSAGE = 'EXPORTS_TYPES_INVALID_FORMAT';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-pack-'));
try {
  // `npm run check:types` checks the same sources.
  for (const tarball of await packPackages(process.cwd(), folder, { noCheck: true })) {
    const data = new Uint8Array(readFileSync(tarball));
    const problems = [...(await findManifestProblems(data)), ...(await findTypeProblems(data))];
    for (const problem of problems) process.stdout.write(`${tarball.slice(folder.length + 1)}: ${problem}\n`);
    if (problems.length > 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function findManifestProblems(data) {
  const { messages, pkg } = await publint({ pack: { tarball: data.buffer }, strict: true });
  const others = messages.filter(({ code }) => code !== IGNORED_MESSAGE);
  return others.map((message) => formatMessage(message, pkg, { color: false }));
}

async function findTypeProblems(data) {
  const { types, problems = [] } = await checkPackage(createPackageFromTarballData(data));
  if (!types) return ['the package has no types'];
  return problems
    .filter(({ resolutionKind, resolutionOption }) => (resolutionKind ?? resolutionOption) !== IGNORED_RESOLUTION)
    .filter(({ kind }) => !IGNORED_PROBLEMS.includes(kind))
    .map((problem) => `types: ${JSON.stringify(problem)}`);
}
