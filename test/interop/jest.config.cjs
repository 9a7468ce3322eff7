// `npm run test:interop`: the published clients and servers, which are no part of the default installation.
/** @type {import('jest').Config} */
module.exports = {
  ...require('../../jest.config.cjs'),
  rootDir: '../..',
  roots: ['<rootDir>/test/interop'],
};
