// The long proofs: `npm run prove:<name>` runs one, with its random choices and its size in the environment.
/** @type {import('jest').Config} */
module.exports = {
  ...require('../../jest.config.cjs'),
  rootDir: '../..',
  roots: ['<rootDir>/test/proofs'],
  testMatch: ['**/*.proof.ts'],
};
