const { existsSync } = require('node:fs');
const Module = require('node:module');
const { dirname, resolve, sep } = require('node:path');

const { default: JestRuntime } = require('jest-runtime');

const DEPENDENCIES = `${sep}node_modules${sep}`;
/** Jest's own module that keeps the tests of a file: the one that each file needs anew. */
const TEST_FRAMEWORK = /jest-circus\/build\/jestAdapterInit\.js$/;
/** By the file's name, of all files that this worker has compiled. */
const sourceMaps = new Map();
/** Set with the worker's first test file; all have the same configuration. */
let transformer;

/**
 * Loads modules with Node's own loader, once for all test files of a worker: with a registry for each file, as Jest has
 * it, loading took most of the suite's time. Only the test file itself and the list of its tests are new for each file,
 * so no module may keep a test's state, and `jest.mock` does nothing here.
 */
module.exports = class SharedModulesRuntime extends JestRuntime {
  constructor(config, environment, resolver, scriptTransformer, ...others) {
    super(config, environment, resolver, scriptTransformer, ...others);
    if (transformer !== undefined) return;
    transformer = scriptTransformer;
    loadTypeScript(config.moduleNameMapper);
  }

  requireModule(from, moduleName) {
    if (moduleName !== undefined) return Module.createRequire(from)(moduleName);
    globalThis.jest = this.jestGlobals.jestObjectFor(from);
    return requireAnew(from);
  }

  requireInternalModule(from, moduleName) {
    const path = moduleName === undefined ? from : Module.createRequire(from).resolve(moduleName);
    if (!TEST_FRAMEWORK.test(path)) return require(path);
    // Its handlers of the file before would read a state that is gone.
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    return requireAnew(path);
  }

  getSourceMaps() {
    return sourceMaps;
  }
};

function requireAnew(path) {
  delete require.cache[path];
  return require(path);
}

function loadTypeScript(aliases) {
  const { _resolveFilename: resolveFilename } = Module;
  Module._resolveFilename = function (request, parent, ...others) {
    const source =
      parent?.filename === undefined || parent.filename.includes(DEPENDENCIES)
        ? undefined
        : findSource(request, parent.filename, aliases);
    return source ?? resolveFilename.call(this, request, parent, ...others);
  };
  Module._extensions['.ts'] = (module, filename) => {
    const { code, sourceMapPath } = transformer.transform(filename, {
      isInternalModule: false,
      supportsDynamicImport: false,
      supportsExportNamespaceFrom: false,
      supportsStaticESM: false,
      supportsTopLevelAwait: false,
    });
    if (sourceMapPath !== null) sourceMaps.set(filename, sourceMapPath);
    module._compile(code, filename);
  };
}

/** The TypeScript file that an import of our own code means; undefined for a package. */
function findSource(request, importer, aliases) {
  if (request.startsWith('.')) {
    const path = resolve(dirname(importer), request);
    const source = path.endsWith('.js') ? `${path.slice(0, -3)}.ts` : `${path}.ts`;
    return existsSync(source) ? source : undefined;
  }
  for (const [pattern, target] of aliases) {
    const match = request.startsWith('@tollgate/') ? new RegExp(pattern).exec(request) : null;
    if (match) return target.replace(/\$(\d)/g, (_, group) => match[Number(group)]);
  }
  return undefined;
}
