// Runs a long proof of test/proofs round by round, and records each round in docs/proofs/<name>.json.
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { readArguments } from './answer-usage.mjs';
import { runJest } from './run-jest.mjs';
import { setup } from './setup.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const proofs = readdirSync(join(root, 'test', 'proofs'))
  .flatMap((file) => /^(.+)\.proof\.ts$/.exec(file)?.[1] ?? [])
  .sort();
/** Of tools/devnet/processes/free-port.ts. */
const FIRST_PORT_SHARE = 5;
/** It waits for time-outs of a minute and a half, and has no short form. */
const WITHOUT_SHORT_FORM = ['slow-requests'];
const HELP = `npm run prove:<name> -- --rounds N: repeats a long proof with new random choices and records each round.

  Proofs: ${proofs.join(', ')}

  --rounds N   rounds that the record should have; a stopped run continues where it was (default 1)
  --seed N     the random choices of the first round; the following rounds count up from it (default: a random number)
  --quick      short rounds, as continuous integration runs them; they are not recorded
  --fresh      forgets the rounds recorded for this commit

  npm run prove -- --quick runs one short round of each proof except ${WITHOUT_SHORT_FORM.join(', ')}.

The record is docs/proofs/<name>.json: commit, machine, and each round's seed, result and time. Rounds of another commit
or machine are replaced. Exit code 0: every round passed; 1: one failed; 2: wrong arguments.
`;

const options = {
  rounds: { type: 'string', default: '1' },
  seed: { type: 'string' },
  quick: { type: 'boolean', default: false },
  fresh: { type: 'boolean', default: false },
};
const { positionals, values } = readArguments(HELP, { options, allowPositionals: true }, (read) => {
  for (const name of read.positionals)
    if (!proofs.includes(name)) throw new Error(`There is no proof "${name}". There are: ${proofs.join(', ')}.`);
  for (const name of ['rounds', 'seed'])
    if (read.values[name] !== undefined && !/^[1-9]\d{0,8}$/.test(read.values[name]))
      throw new Error(`--${name} takes a whole number from 1, and this is "${read.values[name]}".`);
});
await setup({ needsRedisServer: true });
const all = values.quick ? proofs.filter((name) => !WITHOUT_SHORT_FORM.includes(name)) : proofs;
const names = positionals.length === 0 ? all : positionals;
const outcomes = [];
// Short rounds mostly wait for processes that they have started.
if (values.quick) outcomes.push(...(await Promise.all(names.map(prove))));
else for (const name of names) outcomes.push(await prove(name));
process.exitCode = outcomes.includes(false) ? 1 : 0;

/** Runs the rounds that the record lacks; true when every round on record passed. */
async function prove(name) {
  const record = values.quick ? { ...describeRun(), rounds: [] } : readRecord(name);
  const rounds = Number(values.rounds);
  const firstSeed = Number(values.seed ?? randomInt(1, 1_000_000));
  while (record.rounds.length < rounds) {
    const number = record.rounds.length + 1;
    const seed = firstSeed + number - 1;
    process.stdout.write(`=== ${name}: round ${number} of ${rounds}, seed ${seed}\n`);
    const start = Date.now();
    const passed = await runRound(name, seed);
    const seconds = Math.round((Date.now() - start) / 1000);
    record.rounds.push({ seed, passed, seconds, at: new Date(start).toISOString() });
    if (!values.quick) writeRecord(name, record);
    const repeat = `npm run prove -- ${name} --fresh --seed ${seed}${values.quick ? ' --quick' : ''}`;
    process.stdout.write(
      `=== ${name}: round ${number} ${passed ? 'passed' : `FAILED (again: ${repeat})`} in ${seconds} s\n`,
    );
  }
  const failed = record.rounds.filter(({ passed }) => !passed).length;
  process.stdout.write(`${name}: ${record.rounds.length - failed} of ${record.rounds.length} rounds passed\n`);
  return failed === 0;
}

async function runRound(name, seed) {
  const config = join('test', 'proofs', 'jest.config.cjs');
  const code = await runJest(['--config', config, '--runInBand', `test/proofs/${name}\\.proof\\.ts$`], {
    PORT_SHARE: String(FIRST_PORT_SHARE + proofs.indexOf(name)),
    PROOF_SEED: String(seed),
    PROOF_SIZE: values.quick ? 'quick' : 'full',
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
  const isSame = record.commit === run.commit && JSON.stringify(record.machine) === JSON.stringify(run.machine);
  return isSame ? record : { ...run, rounds: [] };
}

function writeRecord(name, record) {
  mkdirSync(dirname(pathOf(name)), { recursive: true });
  writeFileSync(pathOf(name), `${JSON.stringify(record, null, 2)}\n`);
}

function pathOf(name) {
  return join(root, 'docs', 'proofs', `${name}.json`);
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
