/** Stops what use-pages.ts has started: the tests run in this process. */
module.exports = async () => globalThis.stopPages?.();
