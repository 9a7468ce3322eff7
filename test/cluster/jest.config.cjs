// `npm run test:cluster`: several Valkey or Redis servers with a failover, which Redis 7.0 cannot acknowledge.
/** @type {import('jest').Config} */
module.exports = {
  ...require('../../jest.config.cjs'),
  rootDir: '../..',
  roots: ['<rootDir>/test/cluster'],
};
