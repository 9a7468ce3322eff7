// Parses every `.lua` file, and reports names that neither Lua and Redis nor a file in a `shared` folder beside it defines.
// The ledger's and the journal's scripts are also checked as they are composed.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import luaparse from 'luaparse';

import { runGit } from '../run-git.mjs';

const KNOWN = new Set([
  ...['redis', 'KEYS', 'ARGV', 'cjson', 'cmsgpack', 'bit', 'struct'],
  ...['assert', 'error', 'ipairs', 'math', 'next', 'pairs', 'pcall', 'select', 'string', 'table', 'tonumber'],
  ...['tostring', 'type', 'unpack'],
]);
const files = runGit(['ls-files', '-co', '--exclude-standard', '*.lua'])
  .split('\n')
  .filter((file) => file !== '' && existsSync(file));

for (const file of files) check(file, readFileSync(file, 'utf8'), sharedNames(dirname(file)));

const require = createRequire(import.meta.url);
require('../typescript.cjs');
for (const module of ['ledger/src/ledger-scripts', 'journal/src/transitions/journal-scripts']) {
  for (const scripts of Object.values(require(`../../libs/${module}.ts`))) {
    for (const [name, { lua }] of Object.entries(scripts)) check(`libs/${module}.ts, ${name}`, lua, []);
  }
}

function check(where, text, names) {
  try {
    for (const { name, loc } of parse(text).globals) {
      if (!KNOWN.has(name) && !names.includes(name)) report(`${where}:${loc.start.line}: "${name}" is not defined`);
    }
  } catch (error) {
    report(`${where}: ${error.message}`);
  }
}

/** What the shared files of this folder and of those above it define. */
function sharedNames(folder) {
  if (folder === '.') return [];
  const shared = join(folder, 'shared');
  const texts = existsSync(shared) ? readdirSync(shared).map((file) => readFileSync(join(shared, file), 'utf8')) : [];
  const names = texts.flatMap((text) =>
    parse(text).body.flatMap(({ type, variables, identifier }) =>
      type === 'LocalStatement'
        ? variables.map(({ name }) => name)
        : type === 'FunctionDeclaration'
          ? identifier.name
          : [],
    ),
  );
  return [...names, ...sharedNames(dirname(folder))];
}

function parse(text) {
  return luaparse.parse(text, { luaVersion: '5.1', scope: true, locations: true });
}

function report(problem) {
  process.stdout.write(`${problem}\n`);
  process.exitCode = 1;
}
