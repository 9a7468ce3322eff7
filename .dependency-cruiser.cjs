/** A rule: what the sources of a folder must not import; its specs may. */
function sourcesOf(folder, name, comment, path) {
  return { name, comment, severity: 'error', from: { path: `^${folder}/src`, pathNot: '\\.spec\\.ts$' }, to: { path } };
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'A cycle means two modules are one; the folders no longer tell the flow.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'protocol-is-pure',
      comment: 'packages/protocol runs in a browser: no Nest, no Redis, no Node built-ins, no I/O.',
      severity: 'error',
      from: { path: '^packages/protocol/src', pathNot: '\\.spec\\.ts$' },
      to: { pathNot: ['^packages/protocol/src', 'node_modules/@noble/'] },
    },
    sourcesOf(
      'packages/client',
      'client-stands-on-protocol',
      'The paying client is published: it may not reach into the services.',
      '^(apps|libs|tools|test)',
    ),
    sourcesOf(
      'packages/middleware',
      'middleware-stands-on-protocol',
      'The middlewares are published: they know the facilitator by its HTTP interface alone.',
      '^(apps|libs|tools|test|packages/(client|agent-kit))',
    ),
    sourcesOf(
      'packages/purchase',
      'purchase-knows-ports-alone',
      'The steps of a sale are the same for gateway, facilitator and middlewares: no HTTP, no store, no chain, no Node.',
      ['^(apps|libs|tools|test|packages/(?!(purchase|protocol)/))', 'node_modules/', '^(node:)?(fs|http|net|crypto)$'],
    ),
    {
      name: 'services-know-the-purchase-alone',
      comment: 'What a server of somebody else needs around the purchase, the services have in their own way.',
      severity: 'error',
      from: { path: '^(apps|libs|tools)', pathNot: '\\.spec\\.ts$' },
      to: { path: '^packages/middleware/' },
    },
    sourcesOf(
      'packages/agent-kit',
      'agent-kit-stands-on-client-and-protocol',
      'The agent kit is published: it may not reach into the services, and needs no framework of theirs.',
      ['^(apps|libs|tools|test)', 'node_modules/@nestjs/'],
    ),
    {
      name: 'only-signing-files-see-private-keys',
      comment: 'A key that few files can touch is a key that few files can leak.',
      severity: 'error',
      from: { path: '^packages/agent-kit/src', pathNot: ['\\.spec\\.ts$', '/signing/'] },
      to: { path: 'node_modules/viem/.*accounts', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-the-wallets-of-the-worker-see-private-keys',
      comment: 'Planning, payments, events and metrics get addresses; the key stays where it was read.',
      severity: 'error',
      from: { path: '^apps/agent-worker/src', pathNot: ['\\.spec\\.ts$', '/wallets/'] },
      to: { path: ['node_modules/viem/.*accounts', 'node_modules/ox/'], dependencyTypesNot: ['type-only'] },
    },
    sourcesOf(
      'libs/crypto',
      'crypto-stands-alone',
      'Keys pass through it, so it knows nothing that could store or log them.',
      ['^(apps|test|tools|libs/(?!crypto)|packages/(?!protocol))', 'node_modules/@nestjs/'],
    ),
    sourcesOf(
      'libs/redis',
      'redis-kit-stands-alone',
      'Ledger, journal and Nest processes use one Redis kit, so it knows none of them.',
      ['^(apps|test|tools|libs/(?!redis)|packages/(?!protocol))', 'node_modules/@nestjs/'],
    ),
    sourcesOf(
      'libs/chain',
      'chain-has-no-framework',
      'The chain client is used by any process; it knows no ledger, no job and no framework.',
      ['^(apps|test|libs/(?!(chain|crypto)/)|packages/(?!protocol))', 'node_modules/(@nestjs|ioredis)/'],
    ),
    sourcesOf(
      'libs/book',
      'book-has-no-framework',
      'The book is SQL and rules; how its events arrive, and who may read it, belong to the bookkeeper.',
      [
        '^(apps|test|tools|libs/(?!(book|book-events|crypto|refunds)/)|packages/(?!protocol))',
        'node_modules/(@nestjs|ioredis)/',
      ],
    ),
    {
      name: 'only-the-bookkeeper-opens-the-database',
      comment: 'One process opens the database of the book; the others, and the commands, ask it.',
      severity: 'error',
      from: { path: '^(apps|libs|packages|tools)', pathNot: ['\\.spec\\.ts$', '^libs/book/(src/database|test)/'] },
      to: { path: 'node_modules/(pg|@types/pg|@electric-sql/pglite)/' },
    },
    sourcesOf(
      'libs/book-events',
      'book-events-are-data',
      'Writers and readers of the outbox share its events: no Redis, no framework, nothing of who writes them.',
      ['^(apps|test|tools|libs/(?!(book-events|schemas)/)|packages/(?!protocol))', 'node_modules/(@nestjs|ioredis)/'],
    ),
    sourcesOf(
      'libs/schemas',
      'schemas-are-data',
      'Any library parses with them what another process wrote: no Redis, no framework, no message of its own.',
      ['^(apps|test|tools|libs/(?!schemas/)|packages/(?!protocol))', 'node_modules/(@nestjs|ioredis)/'],
    ),
    sourcesOf(
      'libs/ledger',
      'ledger-has-no-framework',
      'The ledger is used by any process; Nest wiring belongs to the applications.',
      [
        '^(apps|test|libs/(chain|common|config|http|transport|journal|agent-jobs)|packages/(?!protocol))',
        'node_modules/@nestjs/',
      ],
    ),
    sourcesOf(
      'libs/journal',
      'journal-has-no-framework',
      'The journal of jobs is used by any process; what a job does, and the wiring, belong to the applications.',
      [
        '^(apps|test|libs/(common|config|http|transport|ledger|agent-jobs)|packages/(?!protocol))',
        'node_modules/@nestjs/',
      ],
    ),
    sourcesOf(
      'libs/verification',
      'verification-has-no-framework',
      'The rules for payments know how to judge, and nothing of processes or of how a payment is settled.',
      [
        '^(apps|test|libs/(agent-jobs|settlement)|packages/(?!protocol))',
        'node_modules/(@nestjs|ioredis|prom-client)/',
      ],
    ),
    sourcesOf(
      'libs/settlement',
      'settlement-has-no-framework',
      'The stages of a settlement are called by any process; queues, metrics and wiring belong to it.',
      ['^(apps|test|libs/agent-jobs|packages/(?!protocol))', 'node_modules/(@nestjs|prom-client)/'],
    ),
    sourcesOf(
      'libs/refunds',
      'refunds-know-ports-alone',
      'The rules of refunds ask ports; SQL belongs to the book, Redis to ledger and journal, HTTP to the bookkeeper.',
      [
        '^(apps|test|tools|libs/(book|common|config|crypto|http|redis|settlement|transport|verification|webhooks)/|packages/(?!protocol))',
        'node_modules/(@nestjs|ioredis)/',
      ],
    ),
    {
      name: 'payments-take-only-messages-from-the-transport',
      comment: 'What processes are made of is Nest; the types of their messages are not.',
      severity: 'error',
      from: { path: '^libs/(verification|settlement)/src', pathNot: '\\.spec\\.ts$' },
      to: { path: '^libs/(common|config|http|transport)', dependencyTypesNot: ['type-only'] },
    },
    sourcesOf(
      'libs/config',
      'settings-know-no-process',
      'Each process reads its settings first; what it does with them belongs to it.',
      ['^(apps|test|tools|libs/(?!(config|redis)/)|packages/(?!protocol))', 'node_modules/@nestjs/'],
    ),
    sourcesOf(
      'libs/http',
      'http-knows-no-subject',
      'Problems, limits, keys and guarded requests are the same whatever a route is about.',
      ['^(apps|test|tools|libs/(?!(http|redis)/)|packages/(?!protocol))', 'node_modules/bullmq/'],
    ),
    sourcesOf(
      'libs/transport',
      'transport-knows-no-subject',
      'It carries questions and answers; of the ledger it takes types of what the messages say.',
      [
        '^(apps|test|tools|libs/(?!(transport|common|http|ledger|redis|schemas)/)|packages/(?!protocol))',
        'node_modules/bullmq/',
      ],
    ),
    sourcesOf(
      'libs/common',
      'common-is-what-each-process-has',
      'Logging, health, metrics and the end of a process: nothing of what a process is for.',
      ['^(test|tools|libs/(?!(common|config|http|redis)/)|packages/(?!protocol))', 'node_modules/bullmq/'],
    ),
    sourcesOf(
      'libs/webhooks',
      'webhooks-know-no-subject',
      'What an event is about is known to who follows its outbox: the agent worker, and the bookkeeper.',
      [
        '^(apps|test|tools|libs/(?!(webhooks|common|config|http|journal|redis)/)|packages/(?!protocol))',
        'node_modules/bullmq/',
      ],
    ),
    sourcesOf(
      'libs/operator-api',
      'operator-api-is-schemas',
      'What is asked and answered, for handlers, commands and pages: who does it is known to the bookkeeper.',
      [
        '^(apps|test|tools|libs/(?!(operator-api|agent-jobs|book|http|refunds|webhooks)/)|packages/(?!protocol))',
        'node_modules/(@nestjs|ioredis)/',
      ],
    ),
    {
      name: 'agent-jobs-knows-no-operation',
      comment:
        'What gateway, worker and commands share about jobs: of the kit, the inputs of the operations. What an operation does is known to the worker alone.',
      severity: 'error',
      from: { path: '^libs/agent-jobs/src', pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^(apps|test|libs/(chain|ledger)|packages/(?!protocol))',
        pathNot: '^packages/agent-kit/src/operations/define/write-operations\\.ts$',
      },
    },
    {
      name: 'inputs-of-operations-stand-alone',
      comment: 'The gateway loads them at its start: schemas alone, nothing that plans, signs or sends.',
      severity: 'error',
      from: { path: '^packages/agent-kit/src/operations/define/(write-operations|input-schemas|field-facts)\\.ts$' },
      to: {
        path: '^packages/agent-kit/',
        pathNot: '^packages/agent-kit/src/operations/define/(input-schemas|field-facts)\\.ts$',
      },
    },
    {
      name: 'libs-do-not-import-apps',
      comment: 'Dependencies point from applications to libraries, never back.',
      severity: 'error',
      from: { path: '^(libs|packages)' },
      to: { path: '^apps' },
    },
    {
      name: 'only-commands-import-commands',
      comment: 'Dependencies point from commands to libraries, never back.',
      severity: 'error',
      from: { path: '^(libs|packages|apps)', pathNot: '\\.spec\\.ts$' },
      to: { path: '^tools/cli' },
    },
    {
      name: 'commands-do-not-import-apps',
      comment: 'Commands work on Redis and the chain by the libraries, as the processes do.',
      severity: 'error',
      from: { path: '^tools/cli' },
      to: { path: '^apps' },
    },
    {
      name: 'a-command-is-loaded-when-it-runs',
      comment: '`tollgate --help` answers at once: what defines the commands imports commander and no library.',
      severity: 'error',
      from: {
        path: [
          '^tools/cli/(main|program)\\.ts$',
          '^tools/cli/[^/]+/command\\.ts$',
          '^tools/cli/shared/cli-command\\.ts$',
        ],
      },
      to: {
        path: [
          '^libs/',
          '^packages/(?!(client|agent-kit)/src/cli/|agent-kit/src/chat/chat-command\\.ts)',
          'node_modules/(?!commander/)',
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'apps-do-not-import-apps',
      comment: 'Processes share Redis and nothing else.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'production-does-not-import-tests-or-devnet',
      comment: 'The devnet and the test harness serve this repository, and are not parts of the product.',
      severity: 'error',
      from: {
        path: '^(apps|libs|packages|tools)',
        pathNot: ['\\.spec\\.ts$', '^(apps|libs|packages|tools)/[^/]+/test/', '^tools/devnet/'],
      },
      to: { path: '^(tools/devnet|test|bench)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: ['^dist/', '^packages/[^/]+/dist/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js', '.json'] },
  },
};
