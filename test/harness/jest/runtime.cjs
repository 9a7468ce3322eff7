const asyncHooks = require('node:async_hooks');
const Module = require('node:module');

const { default: JestRuntime } = require('jest-runtime');

require('../../../scripts/typescript.cjs');

/** Jest's own module that keeps the tests of a file: the one of its modules that each file needs anew. */
const TEST_FRAMEWORK = /jest-circus\/build\/jestAdapterInit\.js$/;

/**
 * Loads modules with Node's own loader, once for all test files of a worker: with a registry for each file, as Jest has
 * it, loading took most of the suite's time. Only the test file itself and the list of its tests are new for each file,
 * so no module may keep a test's state, and `jest.mock` does nothing here.
 */
module.exports = class SharedModulesRuntime extends JestRuntime {
  requireModule(from, moduleName) {
    if (moduleName !== undefined) return Module.createRequire(from)(moduleName);
    globalThis.jest = this.jestGlobals.jestObjectFor(from);
    return requireAnew(from);
  }

  requireInternalModule(from, moduleName) {
    const path = moduleName === undefined ? from : Module.createRequire(from).resolve(moduleName);
    if (!TEST_FRAMEWORK.test(path)) return require(path);
    // The handlers of the previous file would read a state that is gone.
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    const { AsyncLocalStorage } = asyncHooks;
    setStorage(RunningTest);
    try {
      return requireAnew(path);
    } finally {
      setStorage(AsyncLocalStorage);
    }
  }
};

/**
 * Holds the test that runs, for Jest's framework. The tests of a file run one after the other, so a variable is enough:
 * every promise of a worker would carry an `AsyncLocalStorage` of each file before, a fifth of the suite's CPU time.
 */
class RunningTest {
  #test;

  getStore() {
    return this.#test;
  }

  /** Not an async function, which would stand in the stack traces of the tests. */
  run(test, callback) {
    const outer = this.#test;
    this.#test = test;
    return callback().finally(() => (this.#test = outer));
  }
}

function setStorage(value) {
  Object.defineProperty(asyncHooks, 'AsyncLocalStorage', {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}

function requireAnew(path) {
  delete require.cache[path];
  return require(path);
}
