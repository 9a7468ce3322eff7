import { examineEnvironment } from '@tollgate/config';
import type { IContainer } from 'kubernetes-models/v1';

import { containersOf, podsOf, portOf, type Manifest } from './manifest.js';
import { PATHS, type Listening, type Process } from './processes.js';
import { listProcesses, settingsOf } from './read-settings.js';

/** What the processes themselves leave: closing connections, and the platform's own delay. */
const MARGIN_MS = 5_000;
const PROBES = { startupProbe: PATHS.live, livenessProbe: PATHS.live, readinessProbe: PATHS.ready } as const;

/** Each probe asks a path that the process serves, at the port where it listens, for all. */
export function findProbeProblems(manifests: readonly Manifest[]): string[] {
  return listProcesses(manifests).flatMap(({ process, pod, container }) => {
    const { host, port } = listeningOf(process, container, manifests);
    const problems = host === '0.0.0.0' ? [] : [`${pod.owner}: listens on ${host}, which no other pod reaches.`];
    if (!(container.ports ?? []).some(({ containerPort }) => containerPort === port)) {
      problems.push(`${pod.owner}: listens on port ${port}, which is no port of its container.`);
    }
    for (const [kind, path] of Object.entries(PROBES)) {
      const asked = container[kind as keyof typeof PROBES]?.httpGet;
      const askedPort = portOf(pod, asked?.port);
      if (asked?.path === path && askedPort === port) continue;
      problems.push(
        `${pod.owner}: its ${kind} asks ${askedPort}${asked?.path}; the process serves ${path} on port ${port}.`,
      );
    }
    return problems;
  });
}

/** A pod is given the time that its process may take to stop, after the pause before SIGTERM. */
export function findStopProblems(manifests: readonly Manifest[]): string[] {
  return listProcesses(manifests).flatMap(({ process, pod, container }) => {
    const pause = container.lifecycle?.preStop?.exec?.command ?? ['sleep', '0'];
    const neededMs = Number(pause[1]) * 1000 + listeningOf(process, container, manifests).stopMs + MARGIN_MS;
    const givenMs = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
    if (pause[0] === 'sleep' && pause.length === 2 && givenMs >= neededMs) return [];
    return [`${pod.owner}: has ${givenMs} ms to stop, and needs ${neededMs} ms (preStop: ${pause.join(' ')}).`];
  });
}

/** No container has more rights than its process needs. */
export function findRightsProblems(manifests: readonly Manifest[]): string[] {
  return podsOf(manifests).flatMap((pod) => {
    const wrong = (what: string, isRight: boolean): string[] => (isRight ? [] : [`${pod.owner}: ${what}.`]);
    const { securityContext: user } = pod.spec;
    return [
      ...wrong('runs as root', user?.runAsNonRoot === true && (user.runAsUser ?? 0) > 0),
      ...wrong('has no seccomp profile', user?.seccompProfile?.type === 'RuntimeDefault'),
      ...wrong('has a token of the API server', pod.spec.automountServiceAccountToken === false),
      ...containersOf(pod).flatMap(({ name, securityContext: rights, resources }) => [
        ...wrong(`${name} may write to its image`, rights?.readOnlyRootFilesystem === true),
        ...wrong(`${name} may gain rights`, rights?.allowPrivilegeEscalation === false),
        ...wrong(`${name} keeps capabilities`, rights?.capabilities?.drop?.join() === 'ALL'),
        ...wrong(`${name} has no bound of its memory`, resources?.limits?.['memory'] !== undefined),
      ]),
    ];
  });
}

function listeningOf(process: Process, container: IContainer, manifests: readonly Manifest[]): Listening {
  const { values } = settingsOf(container, manifests);
  return process.listening(examineEnvironment(process.environment, values).result);
}
