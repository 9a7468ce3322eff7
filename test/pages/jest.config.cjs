// `npm run test:pages`: the pages in Chromium. One stack serves all files: see use-pages.ts.
/** @type {import('jest').Config} */
module.exports = {
  ...require('../../jest.config.cjs'),
  rootDir: '../..',
  roots: ['<rootDir>/test/pages'],
  globalTeardown: '<rootDir>/test/pages/stop-pages.cjs',
};
