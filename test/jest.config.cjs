// `npm run test:stack`: whole stacks, their processes killed, and their commands and demos run.
/** @type {import('jest').Config} */
module.exports = {
  ...require('../jest.config.cjs'),
  rootDir: '..',
  roots: ['<rootDir>/test/flows', '<rootDir>/test/faults', '<rootDir>/test/upgrade'],
};
