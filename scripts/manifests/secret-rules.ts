import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from '../docs/generated-files.js';
import { containersOf, listOf, podsOf, type Manifest } from './manifest.js';

/** `Secret/key` of each row of the table in docs/kubernetes.md, and the Deployment without which nothing needs it. */
const DOCUMENTED: ReadonlyMap<string, string | undefined> = new Map(
  [
    ...readFileSync(join(ROOT, 'docs/kubernetes.md'), 'utf8').matchAll(
      /^\| `(tollgate-[a-z-]+)` +\| `([\w.-]+)` +\|(?: `([\w-]+)`)?/gm,
    ),
  ].map(([, name, key, owner]) => [`${name}/${key}`, owner]),
);

/** Each key that a container is given is in a Secret of the overlay or in the table of those to create, and each of these is used. */
export function findSecretProblems(manifests: readonly Manifest[]): string[] {
  const brought = new Map(
    manifests
      .filter(({ kind }) => kind === 'Secret')
      .map(({ metadata, data = {} }) => [metadata.name, Object.keys(data)] as const),
  );
  const used = new Map<string, string>();
  const problems: string[] = [];
  for (const pod of podsOf(manifests)) {
    const volumes = new Map((pod.spec.volumes ?? []).map((volume) => [volume.name, volume]));
    for (const { env = [], volumeMounts = [] } of containersOf(pod)) {
      for (const { valueFrom } of env) {
        const { name, key } = valueFrom?.secretKeyRef ?? {};
        if (name !== undefined) used.set(`${name}/${key}`, pod.owner);
      }
      for (const { name: variable, value = '' } of env) {
        if (!variable.endsWith('_FILE')) continue;
        const mount = volumeMounts.find(({ mountPath }) => value.startsWith(`${mountPath}/`));
        const volume = mount === undefined ? undefined : volumes.get(mount.name);
        const secret = volume?.secret?.secretName;
        if (volume === undefined) problems.push(`${pod.owner}: ${variable} is ${value}, which nothing mounts.`);
        if (secret !== undefined) used.set(`${secret}/${value.slice((mount?.mountPath.length ?? 0) + 1)}`, pod.owner);
      }
    }
  }
  for (const [entry, owner] of used) {
    const [name = '', key = ''] = entry.split('/');
    const keys = brought.get(name);
    if (keys === undefined ? !DOCUMENTED.has(entry) : !keys.includes(key)) {
      problems.push(`${owner}: needs ${key} of the Secret ${name}, which is neither brought nor documented.`);
    }
  }
  if (brought.size > 0) return problems;
  const owners = podsOf(manifests).map(({ name }) => name);
  const unused = [...DOCUMENTED]
    .filter(([entry, owner]) => !used.has(entry) && (owner === undefined || owners.includes(owner)))
    .map(([entry]) => entry);
  return [...problems, ...unused.map((entry) => `docs/kubernetes.md: no container uses ${entry}.`)];
}

/** In production no Secret is in the manifests. */
export function findBroughtSecrets(manifests: readonly Manifest[]): string[] {
  return listOf(manifests, 'Secret').map(({ metadata }) => `Secret/${metadata.name} is in the manifests.`);
}
