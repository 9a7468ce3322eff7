/**
 * `npm run docs:manifests` writes the rules of the Prometheus operator. `npm run check:manifests` compares them, renders each overlay
 * of `deploy/kubernetes`, and checks every object by its schema and by what our processes are; with files, checks these rendered
 * manifests instead: `kubectl kustomize my-overlay > my.yaml && npm run check:manifests -- my.yaml`.
 */
import { readFileSync } from 'node:fs';

import { findProblems } from './find-problems.js';
import { OVERLAYS, parseManifests, renderOverlay, type Manifest } from './manifest.js';
import { findPageProblems } from './metric-rules.js';
import { findSchemaProblems } from './schema-rules.js';
import { findBroughtSecrets } from './secret-rules.js';
import { writeRules } from './write-rules.js';

const files = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));

function findAll(name: string, manifests: readonly Manifest[]): string[] {
  return [...findSchemaProblems(manifests), ...findProblems(manifests)].map((problem) => `${name}: ${problem}`);
}

function checkOverlays(): string[] {
  writeRules();
  if (!process.argv.includes('--check')) return [];
  return OVERLAYS.flatMap((overlay) => {
    const manifests = renderOverlay(overlay);
    const brought = overlay === 'devnet' ? [] : findBroughtSecrets(manifests);
    return [...findAll(overlay, manifests), ...brought.map((problem) => `${overlay}: ${problem}`)];
  }).concat(findPageProblems());
}

const problems =
  files.length > 0
    ? files.flatMap((file) => findAll(file, parseManifests(readFileSync(file, 'utf8'))))
    : checkOverlays();
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
