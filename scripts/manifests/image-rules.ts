import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'yaml';

import { ROOT } from '../docs/generated-files.js';
import { containersOf, podsOf, type Manifest } from './manifest.js';

interface ComposeService {
  image: string;
  command?: string[];
  build?: { target: string };
}

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, ComposeService> };
const { version } = JSON.parse(read('package.json')) as { version: string };

/** Each container runs what compose runs of its image; images of ours have this version and the ports of their stage. */
export function findImageProblems(manifests: readonly Manifest[]): string[] {
  return podsOf(manifests).flatMap((pod) =>
    containersOf(pod).flatMap(({ name, image = '', command = [], args = [], ports = [] }) => {
      const [, title = '', tag = ''] = /^(?:.*\/)??([^/]+\/[^/:]+|[^/:]+):([^:]+)$/.exec(image) ?? [];
      const composed = Object.values(compose.services).filter((one) => one.image.split(':')[0] === title);
      if (composed.length === 0) return [`${pod.owner}: compose runs no ${image}.`];
      const stage = composed[0]?.build?.target;
      const where = `${pod.owner}: container ${name}`;
      if (stage === undefined) return composed.some((one) => one.image === image) ? [] : [`${where} runs ${image}.`];
      const problems = tag === version ? [] : [`${where} runs ${image}, not ${title}:${version}.`];
      const { cmd, exposed, user } = readStage(stage);
      const started = [...command, ...args];
      if (!composed.some((one) => isCallOf(one.command ?? cmd, started.length > 0 ? started : cmd))) {
        problems.push(`${where} starts \`${started.join(' ')}\`, as no service of compose does.`);
      }
      if (user !== 'node') problems.push(`${where} runs as ${user}, not as user 1000.`);
      for (const { containerPort } of ports) {
        if (!exposed.includes(containerPort)) problems.push(`${where}: the image does not expose ${containerPort}.`);
      }
      return problems;
    }),
  );
}

/** True for the same words, and for the same program with some of the options. */
function isCallOf(composed: readonly string[], started: readonly string[]): boolean {
  if (composed.join('\n') === started.join('\n')) return true;
  const options = started.slice(2);
  return (
    options[0]?.startsWith('--') === true &&
    composed.slice(0, 2).join('\n') === started.slice(0, 2).join('\n') &&
    composed.join('\n').includes(options.join('\n'))
  );
}

/** What the last lines of a stage of the Dockerfile say. */
function readStage(stage: string): { cmd: string[]; exposed: number[]; user: string } {
  const [, text = ''] = read('Dockerfile').split(new RegExp(`^FROM \\S+ AS ${stage}$`, 'm'));
  const [lines = ''] = text.split(/^FROM /m);
  const last = (instruction: string): string =>
    [...lines.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm'))].at(-1)?.[1] ?? '';
  return {
    cmd: JSON.parse(last('CMD') || '[]') as string[],
    exposed: last('EXPOSE').split(' ').map(Number),
    user: last('USER'),
  };
}
