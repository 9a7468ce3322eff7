// `npm run test:cluster`: several Valkey or Redis servers with a failover, which Redis 7.0 cannot acknowledge. And specs of
// the stores, on servers that are a cluster of one each and so refuse whatever touches two slots: together they run every
// `.lua` file, or the run fails.
/** @type {import('jest').Config} */
module.exports = {
  ...require('../../jest.config.cjs'),
  rootDir: '../..',
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/test/cluster'],
  testMatch: [
    '**/test/cluster/*.spec.ts',
    '**/libs/ledger/src/{amounts,answers,book,claim-payment,close-payment,cluster,payment-record}.spec.ts',
    '**/libs/journal/src/store/{accepting,fill-nonce,journal,lane-registry,limits,release-lane,signatures,transitions,waiting}.spec.ts',
    '**/libs/journal/src/runner/{allowances,lanes,planning-trouble,reports}.spec.ts',
    '**/libs/redis/src/trim-acknowledged.spec.ts',
    '**/libs/settlement/src/settlement-records.spec.ts',
    '**/libs/agent-jobs/src/wallets/wallet-directory.spec.ts',
    '**/libs/webhooks/src/{webhook-targets,webhook-deliveries,webhooks}.spec.ts',
    '**/libs/http/src/api-keys/api-key-store.spec.ts',
    '**/apps/gateway/src/pages/phone-pays.spec.ts',
    '**/apps/gateway/src/paywall/verify/payment-identifiers.spec.ts',
  ],
  globalSetup: '<rootDir>/test/cluster/one-slot/start-record.mjs',
  setupFiles: ['<rootDir>/test/cluster/one-slot/record-scripts.cjs'],
  globalTeardown: '<rootDir>/test/cluster/one-slot/check-record.mjs',
};
