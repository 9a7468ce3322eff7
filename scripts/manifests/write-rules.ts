import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT, writeGenerated } from '../generated-files.js';

/** The rules of `deploy/alerts.yml` as an object of the Prometheus operator: kustomize cannot read them from there. */
export function writeRules(): void {
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
