// CommonJS mode with the ESM-only packages transformed too: Jest's native ESM mode does not run Nest 12.
const esmPackages = [
  '@fastify/static/node_modules',
  '@nestjs',
  '@noble',
  '@tokenizer',
  'content-disposition',
  'cookie',
  'dotenv',
  'es-toolkit',
  'file-type',
  'js-yaml',
  'load-esm',
  'strtok3',
  'token-types',
  'uint8array-extras',
];

/** @type {import('jest').Config} */
module.exports = {
  rootDir: '.',
  testEnvironment: '<rootDir>/test/harness/jest/environment.cjs',
  runtime: '<rootDir>/test/harness/jest/runtime.cjs',
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/tools', '<rootDir>/devnet', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  transform: {
    '^.+\\.(ts|m?js)$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          target: 'es2022',
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmPackages.join('|')})/)`],
  moduleNameMapper: {
    '^@tollgate/(protocol|client|agent-kit|ledger|transactions|common|agent-jobs)$': '<rootDir>/libs/$1/src/index.ts',
    '^@tollgate/client/jobs$': '<rootDir>/libs/client/src/jobs/index.ts',
    '^@tollgate/client/axios$': '<rootDir>/libs/client/src/axios.ts',
    '^@tollgate/client/mcp$': '<rootDir>/libs/client/src/mcp.ts',
    '^@tollgate/client/file-payment-store$': '<rootDir>/libs/client/src/file-payment-store.ts',
    '^@tollgate/middleware$': '<rootDir>/libs/middleware/src/index.ts',
    '^@tollgate/middleware/(express|fastify|hono|next|redis)$': '<rootDir>/libs/middleware/src/$1.ts',
    '^@tollgate/agent-kit/planner$': '<rootDir>/libs/agent-kit/src/planner.ts',
    '^@tollgate/agent-kit/(langchain|mcp|ai-sdk)$': '<rootDir>/libs/agent-kit/src/tools/$1.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  modulePathIgnorePatterns: [
    '<rootDir>/dist',
    '<rootDir>/bench/peers',
    '<rootDir>/test/interop/node_modules',
    '/\\.next/',
  ],
  // They need packages that are not installed by default: `npm run test:interop`.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/interop/'],
  // Ends what hangs: a busy machine takes half a minute to start a process.
  testTimeout: 120_000,
};
