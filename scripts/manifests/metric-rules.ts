import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { IHorizontalPodAutoscalerSpec } from 'kubernetes-models/autoscaling/v2';

import { ROOT } from '../docs/generated-files.js';
import { runGit } from '../run-git.mjs';
import { listOf, nameOf, podsOf, roleOf, type Manifest } from './manifest.js';
import { PATHS } from './processes.js';

/** Where a process registers its metrics; the transport that they share publishes counts. */
const REGISTRATION = /(observeCounts\(\s*registry,\s*)?'(tollgate_[a-z_]+)'/g;
const series = readSeriesNames();

/** Autoscalers and rules use metrics that exist, and what is scaled exports what it is scaled by. */
export function findMetricProblems(manifests: readonly Manifest[]): string[] {
  const problems: string[] = [];
  for (const scaler of listOf<IHorizontalPodAutoscalerSpec>(manifests, 'HorizontalPodAutoscaler')) {
    const { scaleTargetRef, metrics = [] } = scaler.spec;
    const pod = podsOf(manifests).find(({ owner }) => owner === `${scaleTargetRef.kind}/${scaleTargetRef.name}`);
    if (pod === undefined)
      problems.push(`${nameOf(scaler)}: there is no ${scaleTargetRef.kind} ${scaleTargetRef.name}.`);
    for (const { external, resource } of metrics) {
      const name = external?.metric.name;
      if (name !== undefined && !series.get(pod ? roleOf(pod) : '')?.has(name)) {
        problems.push(`${nameOf(scaler)}: ${scaleTargetRef.name} exports no metric ${name}.`);
      }
      const requests = pod?.spec.containers.map(({ resources }) => resources?.requests?.[resource?.name ?? '']) ?? [];
      if (resource !== undefined && requests.includes(undefined)) {
        problems.push(`${nameOf(scaler)}: ${pod?.owner} requests no ${resource.name}, so it has no utilization.`);
      }
    }
  }
  const all = new Set([...series.values()].flatMap((names) => [...names]));
  for (const rules of listOf<{ groups: { rules: { alert: string; expr: string }[] }[] }>(manifests, 'PrometheusRule')) {
    for (const { alert, expr } of rules.spec.groups.flatMap((group) => group.rules)) {
      const unknown = [...expr.matchAll(/\btollgate_\w+/g)].map(([name]) => name).filter((name) => !all.has(name));
      if (unknown.length > 0)
        problems.push(`${nameOf(rules)}: ${alert} uses ${unknown.join(', ')}, which nothing exports.`);
    }
  }
  for (const monitor of listOf<{ endpoints: { path?: string }[] }>(manifests, 'ServiceMonitor')) {
    const wrong = monitor.spec.endpoints.filter(({ path }) => path !== PATHS.metrics);
    if (wrong.length > 0) problems.push(`${nameOf(monitor)}: metrics are at ${PATHS.metrics}.`);
  }
  return problems;
}

/** The page names only metrics that exist, as the rule of the metrics adapter does. */
export function findPageProblems(): string[] {
  const all = new Set([...series.values()].flatMap((names) => [...names]));
  const page = readFileSync(join(ROOT, 'docs/kubernetes.md'), 'utf8');
  const unknown = [...page.matchAll(/\btollgate_[a-z_]+/g)].map(([name]) => name).filter((name) => !all.has(name));
  return unknown.map((name) => `docs/kubernetes.md: nothing exports ${name}.`);
}

/** The series in Prometheus, by process: a histogram is several. */
export function readSeriesNames(): Map<string, ReadonlySet<string>> {
  const files = runGit(['ls-files', '-co', '--exclude-standard', 'apps/*.ts'])
    .split('\n')
    .filter((file) => /(?<!\.spec)\.ts$/.test(file) && existsSync(file));
  const byProcess = new Map<string, Set<string>>();
  for (const file of files) {
    const [, service = ''] = file.split('/');
    const names = byProcess.get(service) ?? new Set();
    byProcess.set(service, names);
    for (const [, counts, name = ''] of readFileSync(file, 'utf8').matchAll(REGISTRATION)) {
      for (const series of seriesOf(name, counts !== undefined)) names.add(series);
    }
  }
  return byProcess;
}

function seriesOf(name: string, isCounts: boolean): string[] {
  if (isCounts) return [`${name}_total`];
  return name.endsWith('_total') ? [name] : [name, `${name}_bucket`, `${name}_count`];
}
