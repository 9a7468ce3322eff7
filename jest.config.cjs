// `npm test`: the specs beside the code. Those of whole stacks are in test/: `npm run test:stack`.
/** @type {import('jest').Config} */
module.exports = {
  rootDir: '.',
  testEnvironment: '<rootDir>/test/harness/jest/environment.cjs',
  runtime: '<rootDir>/test/harness/jest/runtime.cjs',
  testSequencer: '<rootDir>/test/harness/jest/longest-first.cjs',
  roots: ['apps', 'libs', 'packages', 'tools', 'test/docs', 'test/harness'].map((folder) => `<rootDir>/${folder}`),
  testMatch: ['**/*.spec.ts'],
  cacheDirectory: '<rootDir>/.tollgate/jest',
  // The runtime compiles what it loads.
  transform: {},
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/bench/peers', '/\\.next/'],
  // Ends what hangs: a busy machine takes half a minute to start a process.
  testTimeout: 300_000,
};
