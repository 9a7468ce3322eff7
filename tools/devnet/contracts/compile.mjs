// Compiles every contract of this folder into .tollgate/cache/contracts-<hash>.json, and prints that file's path.
// A process of its own, because the compiler takes three seconds and some 300 MB, which are freed at its end.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const here = dirname(fileURLToPath(import.meta.url));
const cacheDirectory = join(here, '..', '..', '..', '.tollgate', 'cache');
const settings = {
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 200 },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
};

/** The path of the compiled contracts for the present sources; the file may not exist yet. */
export function compiledContractsPath() {
  const hash = createHash('sha256');
  hash.update(JSON.stringify(settings));
  for (const name of ['solc', '@openzeppelin/contracts']) hash.update(require(`${name}/package.json`).version);
  for (const file of soliditySources()) hash.update(`${file}\0`).update(readFileSync(join(here, file)));
  return join(cacheDirectory, `contracts-${hash.digest('hex').slice(0, 16)}.json`);
}

/** Compiles unless it was done already. Safe to run several times at once: the file appears whole or not at all. */
export function compileContracts() {
  const path = compiledContractsPath();
  if (existsSync(path)) return path;
  const solc = require('solc');
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(
      soliditySources().map((file) => [file, { content: readFileSync(join(here, file), 'utf8') }]),
    ),
    settings,
  };
  const findImport = (name) => ({ contents: readFileSync(require.resolve(name), 'utf8') });
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImport }));
  const problems = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (problems.length > 0) throw new Error(problems.map(({ formattedMessage }) => formattedMessage).join('\n'));

  const contracts = {};
  for (const file of soliditySources()) {
    for (const [name, { abi, evm }] of Object.entries(output.contracts[file])) {
      contracts[name] = { abi, bytecode: `0x${evm.bytecode.object}` };
    }
  }
  mkdirSync(cacheDirectory, { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(contracts));
  renameSync(draft, path);
  return path;
}

function soliditySources() {
  return readdirSync(here)
    .filter((file) => file.endsWith('.sol'))
    .sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(compileContracts());
