/**
 * `npm run docs:manifests` writes the rules of the Prometheus operator. `npm run check:manifests` compares them, renders each overlay
 * of `deploy/kubernetes`, and checks every object by its schema and by what our processes are; with files, checks these rendered
 * manifests instead: `kubectl kustomize my-overlay > my.yaml && npm run check:manifests -- my.yaml`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT, writeGenerated } from '../docs/generated-files.js';
import { findImageProblems } from './image-rules.js';
import { OVERLAYS, parseManifests, renderOverlay, type Manifest } from './manifest.js';
import { findMetricProblems, findPageProblems } from './metric-rules.js';
import { findNetworkProblems } from './network-rules.js';
import { findProbeProblems, findRightsProblems, findStopProblems } from './process-rules.js';
import { findSchemaProblems } from './schema-rules.js';
import { findBroughtSecrets, findSecretProblems } from './secret-rules.js';
import { findSelectorProblems } from './selector-rules.js';
import { findSettingProblems } from './setting-rules.js';

/** Each rule finds what is wrong with the manifests: by their schemas first, then by what our processes are. */
const RULES = [
  ...[findSchemaProblems, findProbeProblems, findStopProblems, findRightsProblems, findSettingProblems],
  ...[findSecretProblems, findImageProblems, findSelectorProblems, findMetricProblems, findNetworkProblems],
];

const files = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));

function findAll(name: string, manifests: readonly Manifest[]): string[] {
  return RULES.flatMap((find) => find(manifests)).map((problem) => `${name}: ${problem}`);
}

/** The rules of `deploy/alerts.yml` as an object of the Prometheus operator: kustomize cannot read them from there. */
function writeRules(): void {
  const rules = readFileSync(join(ROOT, 'deploy/alerts.yml'), 'utf8');
  const groups = rules.slice(rules.indexOf('groups:'));
  const head = [
    '# The rules of deploy/alerts.yml: change them there, then run `npm run docs:manifests`.',
    'apiVersion: monitoring.coreos.com/v1',
    'kind: PrometheusRule',
    'metadata:',
    '  name: tollgate',
    'spec:',
  ];
  const body = groups.split('\n').map((line) => (line === '' ? '' : `  ${line}`));
  const path = join(ROOT, 'deploy/kubernetes/monitoring/alerts.yaml');
  writeGenerated({ [path]: [...head, ...body].join('\n') }, 'docs:manifests');
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
