import type { IContainer } from 'kubernetes-models/v1';

import { containersOf, podsOf, type Manifest, type Pod } from './manifest.js';
import { PROCESSES, type Process } from './processes.js';

/** The environment of a container, as far as manifests can know it. */
export interface ContainerSettings {
  /** Values after `$(NAME)` is replaced; `SECRET` where a Secret has the value. */
  values: Record<string, string>;
  /** Names that only serve to build other values. */
  parts: ReadonlySet<string>;
}

/** Stands for a part of a value that a Secret has. */
const SECRET = 'secret';
const PART = /\$\(([A-Z_]+)\)/g;

export function settingsOf(container: IContainer, manifests: readonly Manifest[]): ContainerSettings {
  const values: Record<string, string> = {};
  const parts = new Set<string>();
  for (const { configMapRef } of container.envFrom ?? []) {
    Object.assign(
      values,
      manifests.find((one) => one.kind === 'ConfigMap' && one.metadata.name === configMapRef?.name)?.data,
    );
  }
  for (const { name, value = SECRET } of container.env ?? []) {
    values[name] = value.replaceAll(PART, (reference, part: string) => {
      parts.add(part);
      return values[part] ?? reference;
    });
  }
  return { values, parts };
}

/** The pods that run a process of ours, with the container that does. */
export function listProcesses(
  manifests: readonly Manifest[],
): { name: string; process: Process; pod: Pod; container: IContainer }[] {
  return podsOf(manifests).flatMap((pod) =>
    containersOf(pod).flatMap((container) => {
      const process = PROCESSES.get(container.name);
      return process === undefined ? [] : [{ name: container.name, process, pod, container }];
    }),
  );
}
