import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

interface Manifest {
  dependencies: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

const readManifest = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest;

describe('package.json', () => {
  it('depends only on packages that are imported, or peers of these', () => {
    const names = Object.keys(readManifest('package.json').dependencies);
    const files = execFileSync('git', ['ls-files', '*.ts', '*.mjs'], { encoding: 'utf8' }).split('\n');
    const specifiers = files
      .filter((file) => file !== '' && existsSync(file))
      .flatMap((file) => [
        ...readFileSync(file, 'utf8').matchAll(/(?:from |import |import\(|resolve\(|load\()'([^'.][^']*)'/g),
      ])
      .map(([, specifier = '']) => specifier);
    const imported = names.filter((name) => specifiers.some((each) => each === name || each.startsWith(`${name}/`)));
    const peers = imported.flatMap((name) =>
      Object.keys(readManifest(`node_modules/${name}/package.json`).peerDependencies ?? {}),
    );
    expect(imported.length).toBeGreaterThan(10);
    expect(names.filter((name) => !imported.includes(name) && !peers.includes(name))).toEqual([]);
  });

  it('brings no package into the image that wants to run a script, but the two with native code', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Record<string, { hasInstallScript?: boolean; dev?: boolean; devOptional?: boolean }>;
    };
    const scripted = Object.entries(packages).filter(([, one]) => one.hasInstallScript && !one.dev && !one.devOptional);
    expect(scripted.map(([path]) => path)).toEqual(['node_modules/msgpackr-extract', 'node_modules/secp256k1']);
    const installations = readFileSync('Dockerfile', 'utf8').match(/^RUN npm (?:ci|prune|install).*$/gm) ?? [];
    expect(installations.length).toBeGreaterThan(0);
    expect(installations.filter((line) => !line.includes(' --ignore-scripts '))).toEqual([]);
  });
});
