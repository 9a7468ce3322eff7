// Builds dist/ if a source has changed since the last build.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { runProgram } from '../run-step.mjs';
import { cachePackages } from './cache-packages.mjs';

/** Folders among them that hold no sources; `npm pack` makes a dist in each package. */
const MADE = ['node_modules', 'dist'];
const SOURCES = [
  ...['apps', 'libs', 'packages', 'tools'],
  ...['scripts/build/build-cli.mjs', 'scripts/build/build-web.mjs', 'scripts/swc-options.json'],
  ...['scripts/build/cache-packages.mjs', 'scripts/build/load-packages.mjs'],
  ...['nest-cli.json', 'rspack.config.cjs', 'tsconfig.json', 'package-lock.json'],
];

/** `withCrashPoints`: the services that tests kill at a certain line, in dist/crash. */
export function areServicesBuilt(root, { withCrashPoints = false } = {}) {
  const stamp = stampPath(root, withCrashPoints);
  if (!existsSync(stamp) || !services(root, withCrashPoints).every(({ main }) => existsSync(main))) return false;
  return readFileSync(stamp, 'utf8') === hashSources(root);
}

export async function buildServices(root, { withCrashPoints = false } = {}) {
  const hash = hashSources(root);
  const stamp = stampPath(root, withCrashPoints);
  rmSync(stamp, { force: true });
  const build = ({ shownAs, args }) =>
    runProgram(process.execPath, args, {
      cwd: root,
      env: withCrashPoints ? { TOLLGATE_CRASH_POINTS: 'true' } : {},
      shownAs,
      remedy: 'mend the error above; `npm run check:types` says more about it.',
    });
  // One after the other would take three times as long; each uses one core.
  const results = await Promise.allSettled(services(root, withCrashPoints).map(build));
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
  await cachePackages(services(root, withCrashPoints).flatMap(({ main, hasPackages }) => (hasPackages ? [main] : [])));
  writeFileSync(stamp, hash);
}

/** The services, the command line that operates them, and the pages: how each is built, and the file it becomes. */
function services(root, withCrashPoints) {
  const nest = join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  const { projects } = JSON.parse(readFileSync(join(root, 'nest-cli.json'), 'utf8'));
  const dist = join(root, 'dist', withCrashPoints ? 'crash' : '');
  const built = Object.entries(projects).map(([name, project]) => ({
    shownAs: `nest build ${name}`,
    args: [nest, 'build', name],
    main: join(dist, project.root, `${project.entryFile}.js`),
    hasPackages: true,
  }));
  if (withCrashPoints) return built;
  const script = (name, main) => ({ shownAs: `node ${name}`, args: [join(root, name)], main });
  return [
    ...built,
    script('scripts/build/build-cli.mjs', join(root, 'dist', 'tollgate.js')),
    script('scripts/build/build-web.mjs', join(root, 'dist', 'apps', 'bookkeeper', 'web', 'console.js')),
  ];
}

function stampPath(root, withCrashPoints) {
  return join(root, 'dist', withCrashPoints ? '.sources-crash' : '.sources');
}

/** A hash of names and contents, not of times, because a checkout gives every file a new time. */
function hashSources(root) {
  const hash = createHash('sha256');
  const add = (path) => {
    const full = join(root, path);
    if (statSync(full).isDirectory()) {
      for (const name of readdirSync(full).sort()) if (!MADE.includes(name)) add(`${path}/${name}`);
    } else if (!path.endsWith('.spec.ts')) {
      hash.update(`${path}\0`).update(readFileSync(full)).update('\0');
    }
  };
  for (const path of SOURCES) if (existsSync(join(root, path))) add(path);
  return hash.digest('hex');
}
