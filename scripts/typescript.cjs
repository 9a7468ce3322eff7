// Lets Node run the TypeScript sources: `node scripts/typescript.cjs <file> [arguments]`. Each file is compiled once, by
// swc, and kept in .tollgate/compiled. Tests and the processes they start run so: it takes a third of tsx's time, and
// keeps the types of decorated members, which Nest and class-validator need.
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join, resolve, sep } = require('node:path');

const root = join(__dirname, '..');
const compiledFolder = join(root, '.tollgate', 'compiled');
const DEPENDENCIES = `${sep}node_modules${sep}`;
/** Our packages' names, as `paths` in tsconfig.json has them, and the source of each. */
const packages = readPackages();
const SWC_OPTIONS = {
  ...require('./swc-options.json'),
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};
const compilerVersion = `${require('@swc/core/package.json').version} ${JSON.stringify(SWC_OPTIONS)}`;

process.setSourceMapsEnabled(true);

const { _resolveFilename: resolveFilename } = Module;
Module._resolveFilename = function (request, parent, ...others) {
  return findSource(request, parent?.filename) ?? resolveFilename.call(this, request, parent, ...others);
};
Module._extensions['.ts'] = (module, filename) => module._compile(compile(filename), filename);
const loadText = (module, filename) => {
  module.exports = readFileSync(filename, 'utf8');
};
Module._extensions['.lua'] = loadText;
Module._extensions['.sql'] = loadText;

/** The source file that an import in our own code means; undefined for another package. */
function findSource(request, importer) {
  // A module that `--require` names has no importer.
  if (!importer || importer.includes(DEPENDENCIES)) return undefined;
  if (!request.startsWith('.')) return packages.get(request);
  const path = resolve(dirname(importer), request);
  const source = path.endsWith('.js') ? `${path.slice(0, -3)}.ts` : `${path}.ts`;
  return existsSync(source) ? source : undefined;
}

function compile(filename) {
  const source = readFileSync(filename, 'utf8');
  const hash = createHash('sha1').update(compilerVersion).update(filename).update(source).digest('hex');
  const path = join(compiledFolder, hash.slice(0, 2), hash);
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It is compiled for the first time.
  }
  const { code } = require('@swc/core').transformSync(source, { ...SWC_OPTIONS, filename });
  mkdirSync(dirname(path), { recursive: true });
  // Other processes may be doing the same.
  writeFileSync(`${path}.${process.pid}`, code);
  renameSync(`${path}.${process.pid}`, path);
  return code;
}

function readPackages() {
  const { paths } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')).compilerOptions;
  return new Map(Object.entries(paths).map(([name, [source]]) => [name, join(root, source)]));
}

// As a program: `node scripts/typescript.cjs [--require <file>] <file> [arguments]`.
if (require.main === module) {
  process.argv.splice(1, 1);
  if (process.argv[1] === '--require') require(resolve(process.argv.splice(1, 2)[1]));
  process.argv[1] = resolve(process.argv[1]);
  require(process.argv[1]);
}
