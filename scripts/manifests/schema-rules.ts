import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Secret } from 'kubernetes-models/v1/Secret';
import { Service } from 'kubernetes-models/v1/Service';

import { nameOf, type Manifest } from './manifest.js';

interface Model {
  apiVersion: string;
  kind: string;
  prototype: { validate(): void };
}

const MODELS: readonly Model[] = [
  ...[ConfigMap, Deployment, HorizontalPodAutoscaler, Job, Namespace, NetworkPolicy, PodDisruptionBudget],
  ...[PrometheusRule, Secret, Service, ServiceMonitor, StatefulSet],
];

/** Each field is checked by the schema of its kind, and each must be in it. */
export function findSchemaProblems(manifests: readonly Manifest[]): string[] {
  return manifests.flatMap((manifest) => {
    const model = MODELS.find(({ apiVersion, kind }) => apiVersion === manifest.apiVersion && kind === manifest.kind);
    if (model === undefined) return [`${nameOf(manifest)}: no schema for ${manifest.apiVersion} ${manifest.kind}.`];
    const unread: string[] = [];
    const watched = watch(manifest, '', unread);
    try {
      model.prototype.validate.call(watched.value);
    } catch (error) {
      return [`${nameOf(manifest)}: ${(error as Error).message}.`];
    }
    watched.finish();
    return unread.map((path) => `${nameOf(manifest)}: there is no field ${path}.`);
  });
}

/**
 * The schemas allow fields that they do not know, as the API server once did. What a schema's validator never reads is
 * such a field, so the object notes what is read of it.
 */
function watch(target: object, path: string, unread: string[]): { value: object; finish: () => void } {
  const parts = new Map<string, { value: object; finish: () => void }>();
  const read = new Set<string>();
  const value = new Proxy(target, {
    get(object, key) {
      const field = Reflect.get(object, key) as unknown;
      if (typeof key === 'symbol') return field;
      read.add(key);
      if (typeof field !== 'object' || field === null) return field;
      const part = parts.get(key) ?? watch(field, `${path}/${key}`, unread);
      parts.set(key, part);
      return part.value;
    },
  });
  const finish = (): void => {
    for (const key of Object.keys(target)) if (!read.has(key)) unread.push(`${path}/${key}`);
    for (const part of parts.values()) part.finish();
  };
  return { value, finish };
}
