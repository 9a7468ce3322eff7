import type {
  INetworkPolicyPeer,
  INetworkPolicyPort,
  INetworkPolicySpec,
} from 'kubernetes-models/networking.k8s.io/v1';

import { listOf, podsOf, portOf, roleOf, type Manifest, type Pod } from './manifest.js';
import { listProcesses, settingsOf } from './read-settings.js';
import { matches, type Labels } from './selector-rules.js';

const NAME = 'app.kubernetes.io/name';
const CHAIN_USERS = ['verifier', 'agent-worker', 'adopt-devnet-wallet'];
/** Also the targets of webhooks, at the port of most RPC servers. */
const HTTPS_USERS = [...CHAIN_USERS, 'bookkeeper'];
const HTTPS = 443;
const DNS = 53;

/** One end of a connection: pods with these labels, here or in another namespace, or an address outside. */
type End = { labels: Labels; namespace?: Labels } | 'outside';
/** Rules of one direction: whom they let in or out, at which ports. */
interface Opening {
  peers: INetworkPolicyPeer[] | undefined;
  ports: INetworkPolicyPort[] | undefined;
}

/** Every pod is closed but for what it needs: clients reach gateways alone, and only users of the chain reach it. */
export function findNetworkProblems(manifests: readonly Manifest[]): string[] {
  const pods = podsOf(manifests);
  const policies = listOf<INetworkPolicySpec>(manifests, 'NetworkPolicy').map(({ spec }) => spec);
  const problems: string[] = [];
  const expect = (isOpen: boolean, is: boolean, what: string): void => {
    if (is !== isOpen) problems.push(isOpen ? `${what} is closed.` : `${what} is open.`);
  };
  const goesOut = (pod: Pod, to: End, port: number, protocol = 'TCP'): boolean =>
    isOpenTo(openingsOf(policies, pod, 'egress'), { end: to, port, protocol, ports: undefined });
  const comesIn = (pod: Pod, from: End, port: number): boolean =>
    isOpenTo(openingsOf(policies, pod, 'ingress'), { end: from, port, protocol: 'TCP', ports: pod });

  for (const pod of pods) {
    const own = policies.filter(({ podSelector }) => matches(podSelector, pod.labels));
    for (const type of ['Ingress', 'Egress'] as const) {
      expect(false, !own.some(({ policyTypes }) => policyTypes?.includes(type)), `${pod.owner}: ${type} by default`);
    }
    for (const protocol of ['UDP', 'TCP']) {
      expect(true, goesOut(pod, 'outside', DNS, protocol), `${pod.owner}: ${protocol} to the name server`);
    }
    for (const { containerPort } of pod.spec.containers.flatMap(({ ports }) => ports ?? [])) {
      const isGateway = roleOf(pod) === 'gateway';
      expect(isGateway, comesIn(pod, 'outside', containerPort), `${pod.owner}: port ${containerPort} from outside`);
    }
    const chain = pods.find(({ name }) => name === 'chain');
    const usesChain = CHAIN_USERS.includes(roleOf(pod));
    if (chain === undefined) {
      expect(HTTPS_USERS.includes(roleOf(pod)), goesOut(pod, 'outside', HTTPS), `${pod.owner}: the way to the chain`);
    } else {
      const port = chain.spec.containers[0]?.ports?.[0]?.containerPort ?? 0;
      expect(usesChain, goesOut(pod, chain, port), `${pod.owner}: the way to the chain`);
      expect(usesChain, comesIn(chain, pod, port), `${chain.owner}: port ${port} from ${pod.owner}`);
    }
  }

  const hasMonitor = listOf(manifests, 'ServiceMonitor').length > 0;
  for (const { pod, container } of listProcesses(manifests)) {
    const redis = pods.find(({ name }) => name === 'redis');
    const { values } = settingsOf(container, manifests);
    for (const host of (values['REDIS_URL'] ?? '').replace(/^.*@/, '').split(',')) {
      const port = Number(host.split(':')[1]);
      const end = redis ?? { labels: { [NAME]: 'redis' }, namespace: {} };
      expect(true, goesOut(pod, end, port), `${pod.owner}: the way to Redis at ${host}`);
      if (redis !== undefined)
        expect(true, comesIn(redis, pod, port), `${redis.owner}: port ${port} from ${pod.owner}`);
    }
    const prometheus: End = { labels: {}, namespace: { 'kubernetes.io/metadata.name': 'monitoring' } };
    const port = container.ports?.[0]?.containerPort ?? 0;
    if (hasMonitor) expect(true, comesIn(pod, prometheus, port), `${pod.owner}: port ${port} from Prometheus`);
  }
  return problems;
}

function openingsOf(policies: readonly INetworkPolicySpec[], pod: Pod, way: 'ingress' | 'egress'): Opening[] {
  return policies
    .filter(({ podSelector }) => matches(podSelector, pod.labels))
    .flatMap((policy) =>
      way === 'ingress'
        ? (policy.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
        : (policy.egress ?? []).map(({ to, ports }) => ({ peers: to, ports })),
    );
}

/** @param connection `ports` is the pod whose ports have names, if any */
function isOpenTo(
  openings: readonly Opening[],
  { end, port, protocol, ports }: { end: End; port: number; protocol: string; ports: Pod | undefined },
): boolean {
  return openings.some(
    (opening) =>
      (opening.peers?.some((peer) => isPeer(peer, end)) ?? true) &&
      (opening.ports?.some(
        (open) =>
          (open.protocol ?? 'TCP') === protocol &&
          (ports === undefined ? Number(open.port) : portOf(ports, open.port)) === port,
      ) ??
        true),
  );
}

/** A peer with no namespace selector is in the namespace of its policy. */
function isPeer({ ipBlock, namespaceSelector, podSelector }: INetworkPolicyPeer, end: End): boolean {
  if (end === 'outside') return ipBlock !== undefined;
  if (ipBlock !== undefined) return false;
  const isNamespace =
    namespaceSelector === undefined ? end.namespace === undefined : matches(namespaceSelector, end.namespace ?? {});
  return isNamespace && matches(podSelector, end.labels);
}
