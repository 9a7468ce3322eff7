import type { INetworkPolicySpec } from 'kubernetes-models/networking.k8s.io/v1';
import type { IServiceSpec } from 'kubernetes-models/v1';

import { listOf, nameOf, podsOf, portOf, type Manifest } from './manifest.js';

export type Labels = Record<string, string>;
type Selector = NonNullable<INetworkPolicySpec['podSelector']>;

export function matches(selector: Selector | undefined, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator !== 'In') throw new Error(`the check knows no operator ${operator}`);
      return values.includes(labels[key] ?? '');
    })
  );
}

/** Whatever selects pods selects some, and each Deployment its own; each port of a Service is one of its pods. */
export function findSelectorProblems(manifests: readonly Manifest[]): string[] {
  const pods = podsOf(manifests);
  const podsBy = (selector: Selector | undefined) => pods.filter(({ labels }) => matches(selector, labels));
  const problems: string[] = [];
  const none = (owner: Manifest, what: string): void => void problems.push(`${nameOf(owner)}: ${what}.`);

  for (const kind of ['Deployment', 'StatefulSet']) {
    for (const owner of listOf<{ selector: Selector }>(manifests, kind)) {
      const selected = podsBy(owner.spec.selector).map((pod) => pod.owner);
      if (selected.join() !== nameOf(owner)) none(owner, `selects the pods of ${selected.join(', ') || 'nothing'}`);
    }
  }
  for (const pod of pods) {
    for (const { labelSelector } of pod.spec.topologySpreadConstraints ?? []) {
      if (!matches(labelSelector, pod.labels)) problems.push(`${pod.owner}: spreads other pods than its own.`);
    }
  }
  for (const kind of ['PodDisruptionBudget', 'NetworkPolicy']) {
    for (const owner of listOf<{ selector?: Selector; podSelector?: Selector }>(manifests, kind)) {
      if (podsBy(owner.spec.selector ?? owner.spec.podSelector).length === 0) none(owner, 'selects no pod');
    }
  }
  const services = listOf<IServiceSpec>(manifests, 'Service');
  for (const service of services) {
    const selected = podsBy({ matchLabels: service.spec.selector ?? {} });
    if (selected.length !== 1) none(service, `selects ${selected.length} kinds of pods`);
    for (const { targetPort, port } of service.spec.ports ?? []) {
      const ports = selected.map((pod) => portOf(pod, targetPort ?? port));
      const declared = selected.flatMap((pod) => pod.spec.containers.flatMap((container) => container.ports ?? []));
      const isThere = ports.every((number) => declared.some(({ containerPort }) => containerPort === number));
      if (!isThere) none(service, `its port ${port} leads to ${targetPort}, which no container has`);
    }
  }
  for (const monitor of listOf<{ selector: Selector; endpoints: { port?: string }[] }>(manifests, 'ServiceMonitor')) {
    const selected = services.filter(({ metadata }) => matches(monitor.spec.selector, metadata.labels ?? {}));
    const named = selected.filter(({ spec }) =>
      monitor.spec.endpoints.every(({ port }) => spec.ports?.some(({ name }) => name === port)),
    );
    const missed = pods.filter(
      ({ labels }) => !named.some(({ spec }) => matches({ matchLabels: spec.selector ?? {} }, labels)),
    );
    if (missed.length > 0) none(monitor, `does not scrape ${missed.map(({ owner }) => owner).join(', ')}`);
  }
  return problems;
}
