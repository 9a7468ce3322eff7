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
import { findRedis70, findRedisServer } from './setup/find-redis-server.mjs';
import { findChromium, hasPostgres, installChromium, installPostgres } from './setup/install-debian.mjs';
import { arePackagesInstalled, installPackages } from './setup/install-packages.mjs';
import { installRedis, installRedis70 } from './setup/install-redis.mjs';
import { findMissingPrograms, unpackPrograms, useOwnPrograms } from './setup/own-programs.mjs';
import { sweepCaches } from './setup/sweep-caches.mjs';
import { removeLists } from './setup/unpack-debian.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const HELP = `npm run setup: installs the packages, builds the services, compiles the devnet's contracts and gets a Valkey or Redis server,
each only if it is missing. The other commands run it themselves.

  npm run setup -- --packages      only the packages
  npm run setup -- --git           also git, which checks run
  npm run setup -- --redis-server  the server even if REDIS_URL answers, because tests start and kill their own
  npm run setup -- --tests         what \`npm test\` needs: the server, a Redis 7.0 beside it, and git, curl and python3
  npm run setup -- --chromium      also the browser in which the pages are tested
  npm run setup -- --crash-points  also the services that the tests of whole stacks kill at a certain line
  npm run setup -- --published     also the published clients and servers for test/interop (750 MB)

A server on the PATH is used if it is a Valkey, or a Redis of version 7.2 or newer. Otherwise, and where
TOLLGATE_OWN_SERVERS is 1, Debian's packages are unpacked into .tollgate, which needs no rights and installs nothing;
on other systems, and without that variable, a package manager installs Valkey if this user may.

It writes only to node_modules, dist and .tollgate of this folder. TOLLGATE_STATE_DIR is for the data of the other commands.

Example: npm run setup -- --packages
`;
const OLDEST_NODE = [20, 19];
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** What specs and checks run. */
export const TEST_PROGRAMS = ['git', 'curl', 'python3'];
/** The proxies that whole stacks stand behind. */
export const PROXY_PROGRAMS = ['nginx', 'caddy'];

/** Ends the process if a step failed; the reason is then on the terminal. */
export async function setup({
  onlyPackages = false,
  needsServices = true,
  needsRedisServer = false,
  needsRedis70 = false,
  needsPrograms = [],
  needsPostgres = false,
  needsChromium = false,
  needsCrashPoints = false,
  needsPublished = false,
} = {}) {
  assertNodeVersion();
  sweepCaches(root);
  useOwnPrograms(root);
  const packages = {
    name: 'packages (npm ci)',
    isDone: () => arePackagesInstalled(root),
    run: () => installPackages(root),
  };
  const others = [
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
    {
      name: 'valkey',
      isDone: () => hasRedis(needsRedisServer),
      run: () => installRedis(root, { needsServer: needsRedisServer }),
    },
    // Many systems have none: then the one spec that needs it fails, with the reason.
    needsRedis70 && {
      name: 'redis 7.0',
      isOptional: true,
      isDone: () => Boolean(findRedis70(root)),
      run: () => installRedis70(root),
    },
    needsPostgres && { name: 'postgresql', isDone: hasPostgres, run: installPostgres },
    needsChromium && {
      name: 'chromium',
      isDone: () => findChromium() !== undefined,
      run: () => installChromium(),
    },
  ];
  const programs = {
    name: 'programs of the system',
    isDone: () => findMissingPrograms(needsPrograms).length === 0,
    run: () => unpackPrograms(root, needsPrograms),
  };
  const steps = [packages, ...(onlyPackages ? [] : others), programs].filter(Boolean);
  const interop = join(root, 'test', 'interop');
  if (needsPublished) {
    steps.push({
      name: 'published clients and servers (npm ci in test/interop, 750 MB)',
      isDone: () => arePackagesInstalled(interop),
      run: () => installPackages(interop),
    });
  }

  if (await isEverythingDone(steps)) return;
  // Two set-ups at once in one folder would delete each other's files.
  const isReady = await withLock(join(root, '.tollgate', 'setup.lock'), () => runSteps(steps));
  if (!isReady) process.exit(1);
}

async function runSteps(steps) {
  const run = (step) =>
    runStep(step.name, step.run, step).then(
      () => true,
      () => Boolean(step.isOptional),
    );
  // A signal would end the process without the `finally`.
  const stop = () => {
    removeLists(root);
    process.exit(130);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
  try {
    for (const step of steps) if (!(await step.isDone()) && !(await run(step))) return false;
    return true;
  } finally {
    for (const signal of STOP_SIGNALS) process.off(signal, stop);
    removeLists(root);
  }
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
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

if (process.argv[1] && fileURLToPath(import.meta.url) === process.argv[1]) {
  const flags = process.argv.slice(2);
  answerHelp(flags, HELP);
  const options = {
    onlyPackages: flags.includes('--packages'),
    needsRedisServer: flags.includes('--redis-server') || flags.includes('--tests'),
    needsRedis70: flags.includes('--tests'),
    needsPrograms: flags.includes('--tests') ? TEST_PROGRAMS : flags.includes('--git') ? ['git'] : [],
    needsChromium: flags.includes('--chromium'),
    needsCrashPoints: flags.includes('--crash-points'),
    needsPublished: flags.includes('--published'),
  };
  await setup(options);
}
