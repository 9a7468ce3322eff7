import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Redis } from 'ioredis';
import type { INetworkPolicySpec } from 'kubernetes-models/networking.k8s.io/v1';
import { stringify } from 'yaml';

import { findImageProblems } from '../../scripts/manifests/image-rules.js';
import { listOf, podsOf, renderOverlay, type Manifest } from '../../scripts/manifests/manifest.js';
import { findMetricProblems } from '../../scripts/manifests/metric-rules.js';
import { findNetworkProblems } from '../../scripts/manifests/network-rules.js';
import { findProbeProblems, findRightsProblems, findStopProblems } from '../../scripts/manifests/process-rules.js';
import { findBroughtSecrets, findSecretProblems } from '../../scripts/manifests/secret-rules.js';
import { findSelectorProblems } from '../../scripts/manifests/selector-rules.js';
import { findSettingProblems } from '../../scripts/manifests/setting-rules.js';
import { startRedis } from '../../tools/devnet/processes/redis.js';

/** Breaks a manifest where a text stands in its JSON. */
type Break = [name: string, from: string | RegExp, to: string];

describe('the rules for deploy/kubernetes', () => {
  let production: Manifest[];
  const problemsOfProduction = new Map<(manifests: readonly Manifest[]) => string[], string[]>();

  beforeAll(() => {
    production = renderOverlay('production');
  });

  function broken([name, from, to]: Break): Manifest[] {
    return production.map((manifest) => {
      if (`${manifest.kind}/${manifest.metadata.name}` !== name && manifest.kind !== name) return manifest;
      const text = JSON.stringify(manifest);
      expect(text).toMatch(from);
      return JSON.parse(text.replace(from, to)) as Manifest;
    });
  }

  const gateway = 'Deployment/gateway';
  it.each<[string, (manifests: readonly Manifest[]) => string[], Break, RegExp]>([
    [
      'a wrong path of a probe',
      findProbeProblems,
      [gateway, '/health/ready', '/ready'],
      /readinessProbe asks 4020\/ready/,
    ],
    ['a wrong port of a process', findProbeProblems, [gateway, '"value":"4020"', '"value":"4021"'], /port 4021/],
    ['a process that no pod reaches', findProbeProblems, [gateway, '0.0.0.0', '127.0.0.1'], /listens on 127/],
    ['too little time to stop', findStopProblems, [gateway, 'Seconds":40', 'Seconds":39'], /39000 ms .* needs 40000/],
    ['a longer drain', findStopProblems, ['ConfigMap', '"NETWORK"', '"DRAIN_MS":"9000","NETWORK"'], /needs 44000 ms/],
    ['root', findRightsProblems, [gateway, 'NonRoot":true', 'NonRoot":false'], /runs as root/],
    ['no seccomp profile', findRightsProblems, [gateway, 'RuntimeDefault', 'Unconfined'], /seccomp/],
    ['a writable image', findRightsProblems, [gateway, 'Filesystem":true', 'Filesystem":false'], /may write/],
    ['capabilities', findRightsProblems, [gateway, '"ALL"', '"NET_RAW"'], /keeps capabilities/],
    [
      'a name that is no setting',
      findSettingProblems,
      [gateway, '"HOST"', '"HOSTS"'],
      /HOSTS is no setting of gateway/,
    ],
    [
      'a name that no process knows',
      findSettingProblems,
      ['ConfigMap', '"NETWORK"', '"NETWROK"'],
      /NETWROK is no setting/,
    ],
    ['a required setting that is missing', findSettingProblems, ['ConfigMap', '"PAY_TO":"",', ''], /PAY_TO is not set/],
    ['a value that a process refuses', findSettingProblems, ['ConfigMap', '"1328"', '"one"'], /CHAIN_ID/],
    [
      'a scheme that is no Redis',
      findSettingProblems,
      ['ConfigMap', '"redis"', '"redis-cluster"'],
      /REDIS_URL must be/,
    ],
    [
      'a user that Redis does not have',
      findSettingProblems,
      [gateway, '//gateway-jobs:', '//seller:'],
      /no user seller/,
    ],
    [
      'an unknown Secret key',
      findSecretProblems,
      [gateway, '"key":"gateway-jobs"', '"key":"all"'],
      /needs all of .*tollgate-redis/,
    ],
    ['a file that no volume has', findSecretProblems, [gateway, '/run/tollgate/c', '/run/toll/c'], /nothing mounts/],
    [
      'another file of a Secret',
      findSecretProblems,
      [gateway, 'gate/challenge-secret', 'gate/secret'],
      /neither brought nor/,
    ],
    ['another version', findImageProblems, [gateway, /service:[\d.]+/, 'service:0.0.0'], /not tollgate\/service:/],
    [
      'another program',
      findImageProblems,
      [gateway, 'gateway/main.js', 'verifier/gateway.js'],
      /as no service of compose/,
    ],
    ['a port that the image does not expose', findImageProblems, [gateway, 'Port":4020', 'Port":4030'], /expose 4030/],
    [
      'a selector of no pod',
      findSelectorProblems,
      ['PodDisruptionBudget/gateway', ':"gateway"}}', ':"gate"}}'],
      /selects no pod/,
    ],
    [
      'a Deployment of other pods',
      findSelectorProblems,
      [gateway, ':"gateway"}},"strategy', ':"verifier"}},"strategy'],
      /selects the pods of/,
    ],
    [
      'a Service port that leads nowhere',
      findSelectorProblems,
      ['Service/gateway', 'Port":"http"', 'Port":"web"'],
      /leads to web/,
    ],
    [
      'a Service that is not scraped',
      findSelectorProblems,
      ['Service/verifier', '"name":"http"', '"name":"web"'],
      /does not scrape/,
    ],
    [
      'a queue length that is not exported',
      findMetricProblems,
      ['HorizontalPodAutoscaler/verifier', 'verify_queue_length', 'queue_length'],
      /exports no metric tollgate_queue_length/,
    ],
    ['a utilization of nothing', findMetricProblems, ['Deployment/verifier', /"cpu":"500m",/, ''], /requests no cpu/],
    [
      'a rule of no metric',
      findMetricProblems,
      ['PrometheusRule', 'tollgate_agent_lane_held', 'tollgate_agent_held'],
      /uses tollgate_agent_held/,
    ],
    ['metrics at another path', findMetricProblems, ['ServiceMonitor', '/metrics', '/prometheus'], /metrics are at/],
    [
      'an open verifier',
      findNetworkProblems,
      ['NetworkPolicy/clients-to-gateway', '"gateway"', '"verifier"'],
      /verifier: port 4021 from outside is open/,
    ],
    [
      'a gateway at the chain',
      findNetworkProblems,
      ['NetworkPolicy/chain-users-to-rpc', '"verifier"', '"gateway"'],
      /gateway: the way to the chain is open/,
    ],
    [
      'a closed Redis',
      findNetworkProblems,
      ['NetworkPolicy/all-to-redis', '6379', '6380'],
      /way to Redis at .* is closed/,
    ],
    [
      'closed metrics',
      findNetworkProblems,
      ['NetworkPolicy/prometheus-to-metrics', ':"monitoring"', ':"other"'],
      /from Prometheus is closed/,
    ],
    [
      'a closed name server',
      findNetworkProblems,
      ['NetworkPolicy/names-only', '"port":53', '"port":54'],
      /name server is closed/,
    ],
    [
      'pods that are open by default',
      findNetworkProblems,
      ['NetworkPolicy', /"policyTypes":[^\]]*\]/, '"policyTypes":["Ingress"]'],
      /Egress by default is open/,
    ],
  ])('find %s', (_, find, change, problem) => {
    problemsOfProduction.set(find, problemsOfProduction.get(find) ?? find(production));
    expect(problemsOfProduction.get(find)).toEqual([]);
    expect(find(broken(change)).join('\n')).toMatch(problem);
  });

  it.each(['chain-users-to-rpc', 'bookkeeper-to-webhooks'])('%s opens public addresses of IPv4 and IPv6', (name) => {
    const { spec } = listOf<INetworkPolicySpec>(production, 'NetworkPolicy').find((one) => one.metadata.name === name)!;
    const blocks = (spec.egress ?? []).flatMap(({ to }) => to ?? []).map(({ ipBlock }) => ipBlock);
    expect(blocks).toEqual([
      { cidr: '0.0.0.0/0', except: expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16']) as string[] },
      { cidr: '::/0', except: ['fc00::/7', 'fe80::/10'] },
    ]);
  });

  it('find a Secret in the manifests of production', () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'brought' }, spec: {} };
    expect(findBroughtSecrets([...production, secret])).toEqual(['Secret/brought is in the manifests.']);
  });

  it('find a field that the schema does not have, and a value that it does not allow', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-manifests-'));
    try {
      const wrong = [
        ...broken([gateway, '"periodSeconds"', '"periodSecond"']),
        { apiVersion: 'v1', kind: 'Service', metadata: { name: 'wrong' }, spec: { ports: [{ port: 'http' }] } },
      ];
      const file = join(folder, 'rendered.yaml');
      writeFileSync(file, wrong.map((manifest) => stringify(manifest)).join('---\n'));
      const { status, stderr } = spawnSync('npm', ['run', '--silent', 'check:manifests', '--', file], {
        encoding: 'utf8',
      });
      expect(status).toBe(1);
      expect(stderr).toMatch(/Deployment\/gateway: there is no field \/spec\/template\/.*\/periodSecond\./);
      expect(stderr).toMatch(/Service\/wrong: .*must be integer/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the Redis of the overlay devnet', () => {
  it('starts with its arguments, and takes each user of the pods with its password', async () => {
    const pod = podsOf(renderOverlay('devnet')).find(({ name }) => name === 'redis');
    const redis = await startRedis({ args: pod!.spec.containers[0]!.args! });
    try {
      for (const user of ['gateway-jobs', 'verifier', 'agent-worker']) {
        const client = new Redis(redis.url.replace('//', `//${user}:devnet@`), { retryStrategy: () => null });
        expect([await client.ping(), await client.acl('WHOAMI')]).toEqual(['PONG', user]);
        client.disconnect();
      }
    } finally {
      await redis.stop();
    }
  });
});
