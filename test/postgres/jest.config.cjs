// `npm run test:postgres`: the specs of the book, on a PostgreSQL server instead of the database inside the bookkeeper.
/** @type {import('jest').Config} */
module.exports = {
  ...require('../../jest.config.cjs'),
  rootDir: '../..',
  roots: ['<rootDir>/test/postgres', '<rootDir>/libs/book', '<rootDir>/apps/bookkeeper'],
};
