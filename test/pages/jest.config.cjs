// `npm run test:pages`: the pages in Chromium. One stack serves all files of a worker: see use-pages.ts.
/** @type {import('jest').Config} */
module.exports = {
  ...require('../../jest.config.cjs'),
  rootDir: '../..',
  roots: ['<rootDir>/test/pages'],
};
