import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Where a process registers its metrics; the transport that they share publishes counts. */
const REGISTRATION = /(observeCounts\(\s*registry,\s*)?'(tollgate_[a-z_]+)'/g;

/** The series in Prometheus, by process: a histogram is several. */
export function readSeriesNames(): Map<string, ReadonlySet<string>> {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'apps/*.ts'], { encoding: 'utf8' })
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
