// `npm run test:chaos`: the long runs, which are no part of `npm test`.
process.env.CHAOS = 'long';

/** @type {import('jest').Config} */
module.exports = {
  ...require('../../jest.config.cjs'),
  rootDir: '../..',
  roots: ['<rootDir>/test/chaos'],
  testMatch: ['**/*.spec.ts', '**/*.long.ts'],
};
