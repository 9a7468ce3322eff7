// `npm run test:postgres`: the specs of the book, on a PostgreSQL server instead of the database inside the bookkeeper.
/** @type {import('jest').Config} */
module.exports = {
  ...require('../../jest.config.cjs'),
  rootDir: '../..',
  roots: ['<rootDir>/test/postgres', '<rootDir>/test/faults', '<rootDir>/libs/book', '<rootDir>/apps/bookkeeper'],
  testMatch: ['**/{postgres,book,bookkeeper}/**/*.spec.ts', '**/test/faults/refund-crashes.spec.ts'],
};
