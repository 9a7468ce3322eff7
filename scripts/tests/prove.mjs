// Runs a long proof of test/proofs round by round, and records each round in docs/proofs/<name>.json.
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { readArguments } from '../answer-usage.mjs';
import { setup } from '../setup.mjs';
import { runJest } from './run-jest.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const proofs = readdirSync(join(root, 'test', 'proofs'))
  .flatMap((file) => /^(.+)\.proof\.ts$/.exec(file)?.[1] ?? [])
  .sort();
/** The first of the shares of ports that the proofs take; see tools/devnet/processes/free-port.ts. */
const FIRST_PORT_SHARE = 6;
/** It waits for time-outs of a minute and a half, and has no short form. */
const WITHOUT_SHORT_FORM = ['slow-requests'];
/** What `cluster` does to the servers; each kind has a record of its own. */
const KINDS = ['kill', 'zombie', 'takeover', 'reshard', 'sentinel'];
const QUICK_CLUSTER_ROUNDS = 2;
/** So many rounds of `cluster` share one start of servers, chain and services. */
const ROUNDS_PER_START = 50;
/** What a round proves something about: commits that change nothing of it leave the record as it is. */
const PROVED = ['apps', 'libs', 'packages', 'package-lock.json', ':(exclude)*.spec.ts', ':(exclude)*/test/*'];
const HELP = `npm run prove:<name> -- --rounds N: repeats a long proof with new random choices and records each round.

  Proofs: ${proofs.join(', ')}

  --rounds N   rounds that the record should have; a stopped run continues where it was (default 1)
  --seed N     the random choices of the first round; the following rounds count up from it (default: a random number)
  --quick      short rounds, as continuous integration runs them; they are not recorded
  --fresh      forgets the rounds that are recorded
  --kind K     of the proof cluster, what is done to the servers of Redis (default kill):
               kill       kill -9 of a primary, which comes back as a replica of its successor
               zombie     a primary hangs for longer than the election, and goes on with its connections open
               takeover   a replica takes over from a primary that is well
               reshard    slots move with their keys from one primary to another
               sentinel   kill, behind three Sentinels instead of in a cluster

  npm run prove -- --quick runs one short round of each proof except ${WITHOUT_SHORT_FORM.join(', ')}.

The record is docs/proofs/<name>.json, or <name>-<kind>.json: commit, machine, and each round's seed, result, time and
figures. Rounds of another machine, or of a commit whose services or packages differ, are replaced. Exit code 0: every
round passed; 1: one failed; 2: wrong arguments.

Example: npm run prove:payments -- --rounds 1 --quick
`;

const options = {
  rounds: { type: 'string', default: '1' },
  seed: { type: 'string' },
  quick: { type: 'boolean', default: false },
  fresh: { type: 'boolean', default: false },
  kind: { type: 'string', default: 'kill' },
};
const { positionals, values } = readArguments(HELP, { options, allowPositionals: true }, (read) => {
  for (const name of read.positionals)
    if (!proofs.includes(name)) throw new Error(`There is no proof "${name}". There are: ${proofs.join(', ')}.`);
  if (!KINDS.includes(read.values.kind))
    throw new Error(`There is no kind "${read.values.kind}". There are: ${KINDS.join(', ')}.`);
  for (const name of ['rounds', 'seed'])
    if (read.values[name] !== undefined && !/^[1-9]\d{0,8}$/.test(read.values[name]))
      throw new Error(`--${name} takes a whole number from 1, and this is "${read.values[name]}".`);
});
const all = values.quick ? proofs.filter((name) => !WITHOUT_SHORT_FORM.includes(name)) : proofs;
const names = positionals.length === 0 ? all : positionals;
await setup({
  needsRedisServer: true,
  needsPrograms: ['git'],
  needsPostgres: names.includes('book'),
});
const outcomes = [];
// Short rounds often wait; with all of them at once a slow machine starts some services for minutes.
const atOnce = values.quick ? availableParallelism() + 1 : 1;
const waiting = [...names];
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) outcomes.push(await prove(name));
  }),
);
process.exitCode = outcomes.includes(false) ? 1 : 0;

/** Runs the rounds that the record lacks; true when every round on record passed. */
async function prove(name) {
  const record = values.quick ? { ...describeRun(), rounds: [] } : readRecord(name);
  const rounds = values.quick && name === 'cluster' ? QUICK_CLUSTER_ROUNDS : Number(values.rounds);
  const firstSeed = Number(values.seed ?? randomInt(1, 1_000_000));
  while (record.rounds.length < rounds) {
    const number = record.rounds.length + 1;
    const seed = firstSeed + number - 1;
    process.stdout.write(`=== ${nameRecord(name)}: round ${number} of ${rounds}, seed ${seed}\n`);
    const atOnce = name === 'cluster' ? Math.min(ROUNDS_PER_START, rounds - number + 1) : 1;
    for await (const round of runRounds(name, seed, atOnce)) {
      record.rounds.push(round);
      if (!values.quick) writeRecord(name, record);
      const again = `npm run prove -- ${name}${name === 'cluster' ? ` --kind ${values.kind}` : ''} --fresh --seed ${round.seed}`;
      const result = round.passed ? 'passed' : `FAILED (again: ${again}${values.quick ? ' --quick' : ''})`;
      process.stdout.write(`=== ${nameRecord(name)}: round ${record.rounds.length} ${result} in ${round.seconds} s\n`);
    }
  }
  const failed = record.rounds.filter(({ passed }) => !passed).length;
  process.stdout.write(
    `${nameRecord(name)}: ${record.rounds.length - failed} of ${record.rounds.length} rounds passed\n`,
  );
  return failed === 0;
}

/**
 * Rounds of one process, which may write each as it ends into a file, or the figures of its only one. A process that fails
 * has failed one more.
 */
async function* runRounds(name, seed, atOnce) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-prove-'));
  const file = join(folder, 'report.jsonl');
  writeFileSync(file, '');
  const start = Date.now();
  const settings = { PROOF_ROUNDS: String(atOnce), PROOF_KIND: values.kind, PROOF_REPORT: file };
  const running = runProof(name, seed, settings);
  const isRound = ({ passed }) => passed !== undefined;
  const reported = [];
  let passed;
  try {
    while (passed === undefined) {
      passed = await Promise.race([running, sleep(500)]);
      const lines = readFileSync(file, 'utf8').split('\n').slice(reported.length, -1);
      const added = lines.map((line) => JSON.parse(line));
      reported.push(...added);
      yield* added.filter(isRound);
    }
    const rounds = reported.filter(isRound);
    if (passed ? rounds.length > 0 : rounds.some((round) => !round.passed)) return;
    const seconds = Math.round((Date.now() - start) / 1000);
    const [figures] = reported.filter((line) => !isRound(line));
    yield { seed: seed + rounds.length, passed, seconds, at: new Date(start).toISOString(), ...figures };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runProof(name, seed, settings) {
  const config = join('test', 'proofs', 'jest.config.cjs');
  const code = await runJest(['--config', config, '--runInBand', `test/proofs/${name}\\.proof\\.ts$`], {
    PORT_SHARE: String(FIRST_PORT_SHARE + proofs.indexOf(name)),
    PROOF_SEED: String(seed),
    PROOF_SIZE: values.quick ? 'quick' : 'full',
    ...settings,
  });
  // A round that was interrupted proves nothing, and the next run begins it anew.
  if (code === 130) process.exit(130);
  return code === 0;
}

function readRecord(name) {
  const run = describeRun();
  const path = pathOf(name);
  if (values.fresh || !existsSync(path)) return { ...run, rounds: [] };
  const record = JSON.parse(readFileSync(path, 'utf8'));
  const isSame =
    isSameCode(record.commit, run.commit) && JSON.stringify(record.machine) === JSON.stringify(run.machine);
  return isSame ? record : { ...run, rounds: [] };
}

/** Whether two clean commits differ in nothing that is proved. A commit that is not in this clone counts as different. */
function isSameCode(one, other) {
  if (one === other) return true;
  if (/ /.test(one + other)) return false;
  try {
    execFileSync('git', ['diff', '--quiet', one, other, '--', ...PROVED], { cwd: root, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function writeRecord(name, record) {
  mkdirSync(dirname(pathOf(name)), { recursive: true });
  writeFileSync(pathOf(name), `${JSON.stringify(record, null, 2)}\n`);
}

function pathOf(name) {
  return join(root, 'docs', 'proofs', `${nameRecord(name)}.json`);
}

function nameRecord(name) {
  return name === 'cluster' ? `${name}-${values.kind}` : name;
}

function describeRun() {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  // Records that this command writes are no change of what it proves.
  const isClean = git('status', '--porcelain', '--', '.', ':(exclude)docs/proofs') === '';
  return {
    commit: `${git('rev-parse', 'HEAD')}${isClean ? '' : ' with changes'}`,
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      platform: `${process.platform} ${process.arch}`,
      node: process.version,
    },
  };
}
