import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

import { readSeriesNames } from '../../scripts/manifests/metric-rules.js';

const read = (file: string) => readFileSync(file, 'utf8');

interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[];
}
interface RuleTests {
  tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
}

const rules = (parse(read('deploy/alerts.yml')) as Rules).groups.flatMap((group) => group.rules);

describe('deploy/alerts.yml', () => {
  it.each(['deploy/alerts.yml', 'deploy/alerts.test.yml', 'docs/operations/metrics.md'])(
    '%s names only metrics that exist',
    (file) => {
      const named = [...read(file).matchAll(/\btollgate_[a-z_]+/g)].map(([name]) => name);
      expect(named.length).toBeGreaterThan(20);
      const exist = new Set([...readSeriesNames().values()].flatMap((names) => [...names]));
      expect(named.filter((name) => !exist.has(name))).toEqual([]);
    },
  );

  it('has a test of each alert firing, and of each not firing', () => {
    const { tests } = parse(read('deploy/alerts.test.yml')) as RuleTests;
    const cases = tests.flatMap((one) => one.alert_rule_test);
    const names = rules.map(({ alert }) => alert).sort();
    for (const fires of [true, false]) {
      const tested = cases.filter(({ exp_alerts: expected }) => expected.length > 0 === fires);
      expect([...new Set(tested.map(({ alertname }) => alertname))].sort()).toEqual(names);
    }
  });
});
