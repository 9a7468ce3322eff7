import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

interface Service {
  command?: string | string[];
  mem_limit?: string;
  pids_limit?: number;
  security_opt?: string[];
}

const read = (file: string) =>
  (parse(readFileSync(file, 'utf8'), { merge: true }) as { services: Record<string, Service> }).services;
const [own, ofCluster] = [read('docker-compose.yml'), read('docker-compose.cluster.yml')];
/** The services of docker-compose.yml, and those that the cluster adds to them. */
const services = { ...ofCluster, ...own };

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
