import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

interface Service {
  command?: string | string[];
  mem_limit?: string;
  pids_limit?: number;
  security_opt?: string[];
  env_file?: string;
  environment?: Record<string, string>;
  volumes?: string[];
}

const read = (file: string) =>
  (parse(readFileSync(file, 'utf8'), { merge: true }) as { services: Record<string, Service> }).services;
const own = read('docker-compose.yml');
const ofCluster = read('docker-compose.cluster.yml');
const ofTwoChains = read('docker-compose.two-chains.yml');
/** The services of docker-compose.yml, and those that the other files add to them. */
const services = { ...ofCluster, ...ofTwoChains, ...own };

function bytesOf(size = ''): number {
  const [, number = '', unit = ''] = /^(?:\$\{\w+:-)?(\d+)([mg])b?\}?$/.exec(size) ?? [];
  return Number(number) * { m: 2 ** 20, g: 2 ** 30 }[unit as 'm' | 'g'];
}

describe('the compose files', () => {
  it.each(Object.keys(services))('bound the memory, the processes and the rights of %s', (name) => {
    const service = services[name]!;
    expect(bytesOf(service.mem_limit)).toBeGreaterThan(0);
    expect(service.pids_limit).toBeGreaterThan(0);
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
  });

  it('run the verifier of the second chain as that of the first', () => {
    const { environment: first, volumes: keys, ...common } = own['verifier']!;
    const { environment, volumes, env_file: file, ...others } = ofTwoChains['verifier-2']!;
    expect({ ...others, env_file: common.env_file }).toEqual(common);
    expect(file).toBe('${TOLLGATE_ENV_FILE:-deploy/two-chains.env}');
    expect(environment).toEqual({ ...(first as object), CHAIN: '${SECOND_CHAIN:-devnet-2}' });
    expect(volumes).toEqual([...(keys ?? []), ...(ofTwoChains['verifier']!.volumes ?? [])]);
  });

  it('leave Redis room for a rewrite of its append-only file', () => {
    const nodes = Object.entries({ ...services, redis: { ...own['redis'], ...ofCluster['redis'] } }).flatMap(
      ([, { command, mem_limit: limit }]) => {
        const [, data] = /--maxmemory (\S+)/.exec([command].flat().join(' ')) ?? [];
        return data === undefined ? [] : [[bytesOf(limit), bytesOf(data)] as const];
      },
    );
    expect(nodes).toHaveLength(6);
    for (const [limit, data] of nodes) expect(limit).toBeGreaterThanOrEqual(3 * data);
  });
});
