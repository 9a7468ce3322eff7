import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import type { IContainer, IPodSpec } from 'kubernetes-models/v1';
import { parseAllDocuments, type Tags } from 'yaml';

import { ROOT } from '../docs/generated-files.js';
import { findKubectl } from './kubectl.js';

export const OVERLAYS = ['devnet', 'production', 'cluster', 'two-chains'] as const;
export type Overlay = (typeof OVERLAYS)[number];

/** One object of a rendered overlay. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  spec?: unknown;
  data?: Record<string, string>;
}

export interface Pod {
  /** Such as `Deployment/gateway`. */
  owner: string;
  name: string;
  labels: Record<string, string>;
  spec: IPodSpec;
}

/** The objects that `kubectl apply -k` would send. */
export function renderOverlay(overlay: Overlay): Manifest[] {
  const folder = join(ROOT, 'deploy/kubernetes/overlays', overlay);
  return parseManifests(execFileSync(findKubectl(), ['kustomize', folder], { encoding: 'utf8' }));
}

export function parseManifests(text: string): Manifest[] {
  // Kubernetes reads 0x and forty digits as a text: no number is that long.
  const customTags = (tags: Tags): Tags => tags.filter((tag) => typeof tag === 'string' || tag.format !== 'HEX');
  return parseAllDocuments(text, { customTags }).map((document) => document.toJS() as Manifest);
}

export function nameOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata.name}`;
}

/** The objects of a kind, with their spec as the given type. */
export function listOf<Spec>(manifests: readonly Manifest[], kind: string): (Manifest & { spec: Spec })[] {
  return manifests.filter((one): one is Manifest & { spec: Spec } => one.kind === kind && one.spec !== undefined);
}

export function podsOf(manifests: readonly Manifest[]): Pod[] {
  return ['Deployment', 'StatefulSet', 'Job'].flatMap((kind) =>
    listOf<{ template: { metadata: { labels: Record<string, string> }; spec: IPodSpec } }>(manifests, kind).map(
      (owner) => ({
        owner: nameOf(owner),
        name: owner.metadata.name,
        labels: owner.spec.template.metadata.labels,
        spec: owner.spec.template.spec,
      }),
    ),
  );
}

/** What a pod is for: the name of its first container, which further verifiers share. */
export function roleOf({ spec }: Pod): string {
  return spec.containers[0]?.name ?? '';
}

export function containersOf({ spec }: Pod): IContainer[] {
  return [...(spec.initContainers ?? []), ...spec.containers];
}

/** The number of a port that is given by name or number; undefined for a name that no container has. */
export function portOf(pod: Pod, port: string | number | undefined): number | undefined {
  if (typeof port !== 'string') return port;
  return pod.spec.containers.flatMap(({ ports }) => ports ?? []).find(({ name }) => name === port)?.containerPort;
}
