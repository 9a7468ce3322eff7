import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import { parse } from 'yaml';

import type { Manifest, Pod } from './manifest.js';

/** Well-formed values by the key of the file that names a variable. */
const SAMPLES: Record<string, string> = {
  rpc: 'https://rpc.example',
  relayers: `0x${'01'.repeat(32)}`,
  payTo: `0x${'02'.repeat(20)}`,
};
const VARIABLE = /\$\{(\w+)\}/g;

/** The payments file that a pod mounts. */
export interface MountedPayments {
  /** A copy that the process's own checks can read. */
  path: string;
  /** The variables that it names, each with a value. */
  samples: ReadonlyMap<string, string>;
}

/** Null where `PAYMENTS_FILE` is unset, or nothing mounts it. */
export function copyPaymentsFile(
  file: string | undefined,
  pod: Pod,
  manifests: readonly Manifest[],
): MountedPayments | null {
  const mount = pod.spec.containers
    .flatMap(({ volumeMounts = [] }) => volumeMounts)
    .find(({ mountPath }) => file?.startsWith(`${mountPath}/`));
  const volume = pod.spec.volumes?.find(({ name }) => name === mount?.name);
  const map = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === volume?.configMap?.name);
  const text = map?.data?.[basename(file ?? '')];
  if (text === undefined) return null;
  const path = join(mkdtempSync(join(tmpdir(), 'tollgate-payments-')), 'payments.yaml');
  writeFileSync(path, text);
  const { chains = {}, accepts = {} } = parse(text) as Record<string, Record<string, Record<string, unknown>>>;
  const named = [...Object.values(chains), ...Object.values(accepts)].flatMap((entry) =>
    Object.entries(SAMPLES).flatMap(([key, sample]) =>
      [...JSON.stringify(entry[key] ?? '').matchAll(VARIABLE)].map(([, name = '']) => [name, sample] as const),
    ),
  );
  return { path, samples: new Map(named) };
}
