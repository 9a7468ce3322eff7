// Makes this clone ready to run: packages, built services, compiled devnet contracts, a Redis server.
// Does only what is missing. Plain Node, because it runs before anything is installed.
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { compileContracts, compiledContractsPath } from '../tools/devnet/contracts/compile.mjs';
import { answerHelp } from './answer-usage.mjs';
import { areServicesBuilt, buildServices } from './build/build-services.mjs';
import { claimPidFile } from './process-identity.mjs';
import { runStep } from './run-step.mjs';
import { isRedisUrlAnswering } from './setup/ask-redis.mjs';
import { findRedisServer, OLDEST_FOR_CLUSTERS } from './setup/find-redis-server.mjs';
import { findChromium, hasPostgres, installChromium, installPostgres } from './setup/install-debian.mjs';
import { arePackagesInstalled, installPackages } from './setup/install-packages.mjs';
import { installRedis, installValkey } from './setup/install-redis.mjs';
import { sweepCaches } from './setup/sweep-caches.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const HELP = `npm run setup: installs the packages, builds the services, compiles the devnet's contracts and installs a Redis server,
each only if it is missing. The other commands run it themselves.

  npm run setup -- --packages      only the packages
  npm run setup -- --redis-server  a Redis server even if REDIS_URL answers, because tests start and kill their own
  npm run setup -- --clusters      also Valkey, or a Redis server new enough for tests of clusters and Sentinels
  npm run setup -- --chromium      also the browser in which the pages are tested
  npm run setup -- --crash-points  also the services that the tests of whole stacks kill at a certain line
  npm run setup -- --published     also the published clients and servers for test/interop (550 MB)

It writes only to node_modules, dist and .tollgate of this folder. TOLLGATE_STATE_DIR is for the data of the other commands.
`;
const OLDEST_NODE = [20, 19];

/** Throws if a step failed; the reason is then on the terminal. */
export async function setup({
  onlyPackages = false,
  needsServices = true,
  needsRedisServer = false,
  needsClusters = false,
  needsPostgres = false,
  needsChromium = false,
  needsCrashPoints = false,
  needsPublished = false,
} = {}) {
  assertNodeVersion();
  sweepCaches(root);
  const steps = [
    { name: 'packages (npm ci)', isDone: () => arePackagesInstalled(root), run: () => installPackages(root) },
    needsServices && {
      name: 'services (nest build)',
      isDone: () => areServicesBuilt(root),
      run: () => buildServices(root),
    },
    needsCrashPoints && {
      name: 'services with crash points (nest build)',
      isDone: () => areServicesBuilt(root, { withCrashPoints: true }),
      run: () => buildServices(root, { withCrashPoints: true }),
    },
    {
      name: 'contracts (solc)',
      isDone: () => existsSync(compiledContractsPath()),
      run: async () => void compileContracts(),
    },
    { name: 'redis', isDone: () => hasRedis(needsRedisServer), run: () => installRedis(root) },
    needsPostgres && { name: 'postgresql', isDone: hasPostgres, run: installPostgres },
    needsChromium && {
      name: 'chromium',
      isDone: () => findChromium() !== undefined,
      run: () => installChromium(),
    },
    needsClusters && {
      name: 'valkey',
      isDone: () => Boolean(findRedisServer(root, OLDEST_FOR_CLUSTERS)),
      run: () => installValkey(root),
    },
  ]
    .filter(Boolean)
    .slice(0, onlyPackages ? 1 : undefined);
  const interop = join(root, 'test', 'interop');
  if (needsPublished) {
    steps.push({
      name: 'published clients and servers (npm ci in test/interop, 550 MB)',
      isDone: () => arePackagesInstalled(interop),
      run: () => installPackages(interop),
    });
  }

  if (await isEverythingDone(steps)) return;
  // Two set-ups at once in one folder would delete each other's files.
  await withLock(join(root, '.tollgate', 'setup.lock'), async () => {
    for (const { name, isDone, run } of steps) {
      if (!(await isDone())) await runStep(name, run);
    }
  });
}

async function isEverythingDone(steps) {
  for (const { isDone } of steps) if (!(await isDone())) return false;
  return true;
}

function assertNodeVersion() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  process.stderr.write(
    `Tollgate needs Node ${OLDEST_NODE.join('.')} or newer, and this is Node ${process.versions.node}.\n`,
  );
  process.exit(1);
}

async function hasRedis(needsServer) {
  if (findRedisServer(root)) return true;
  return !needsServer && Boolean(process.env.REDIS_URL) && (await isRedisUrlAnswering(process.env.REDIS_URL));
}

async function withLock(path, work) {
  mkdirSync(dirname(path), { recursive: true });
  // A lock whose process has ended (Ctrl-C) does not count.
  for (let waited = false; !claimPidFile(path); waited = true) {
    if (!waited) process.stdout.write(`… waiting for another setup of this folder (${path})\n`);
    await sleep(200);
  }
  try {
    await work();
  } finally {
    rmSync(path, { force: true });
  }
}

if (process.argv[1] && fileURLToPath(import.meta.url) === process.argv[1]) {
  const flags = process.argv.slice(2);
  answerHelp(flags, HELP);
  const options = {
    onlyPackages: flags.includes('--packages'),
    needsRedisServer: flags.includes('--redis-server'),
    needsClusters: flags.includes('--clusters'),
    needsChromium: flags.includes('--chromium'),
    needsCrashPoints: flags.includes('--crash-points'),
    needsPublished: flags.includes('--published'),
  };
  setup(options).catch(() => process.exit(1));
}
