import { answerHelp, refuseUsage } from '../answer-usage.mjs';
import { loadWhenReady } from '../load-when-ready.mjs';

const HELP = `npm run demo [-- <name>]: shows payments or agent jobs on a local chain, and checks them.

  npm run demo             one payment from the 402 to the refused second use, with every HTTP exchange shown
  npm run demo -- jobs     one agent job of each kind from POST to event, with its transactions, two that fail, webhooks
  npm run demo -- book     what the book keeps of sales and of a refused payment, compared with the chain; a broken row
  npm run demo -- chains   one resource bought on two chains in two tokens, one payment paid back, both compared with the book
  npm run demo -- interop  two published x402 and MPP clients pay the gateway, and pay nothing for an answer that failed;
                           installs them first (750 MB)

It installs and builds what is missing, starts Redis, a local chain and the services on free ports, and stops them
at the end. The exit code is 0 if every check passed.

  REDIS_URL           use this Redis, if it answers, instead of one of its own
  TOLLGATE_STATE_DIR  folder of the run's data (default: .tollgate)

Example: npm run demo -- jobs
`;

/** By name, the file and the function that shows it, and what to do next: lines for a shell, each with what it does. */
const DEMOS = {
  payment: [
    'demo/demo.ts',
    'runDemo',
    'npm run dev                         runs the same stack for you: open its page and pay there',
    'npm run demo -- jobs                shows agents that send transactions',
    'docs/protect-your-api.md            sells an API of your own',
  ],
  jobs: [
    'jobs-demo/run-jobs-demo.ts',
    'runJobsDemo',
    'npm run dev                         runs the same stack for you, and prints a first job to submit',
    'npm run chat                        asks an agent on that stack in words',
    'docs/agent-jobs.md                  lists the operations and what each takes',
  ],
  book: [
    'book-demo/run-book-demo.ts',
    'runBookDemo',
    'npm run dev                         runs the same stack for you, and prints the address of its console',
    'npx tollgate book balances          asks the book of that stack',
    'docs/bookkeeping.md                 says what is booked, and when',
  ],
  chains: [
    'chains-demo/run-chains-demo.ts',
    'runChainsDemo',
    'npm run dev -- --chains 2           runs two chains for you: open its page and choose a token',
    'docs/payment-options.md             accepts several tokens for an API of your own',
  ],
  interop: [
    'interop/run-interop-demo.ts',
    'runInteropDemo',
    'npm run dev                         runs the gateway for a client of your own',
    'docs/interop.md                     lists the clients and servers that are tested',
  ],
};

const args = process.argv.slice(2);
answerHelp(args, HELP);
const [name = 'payment'] = args;
if (args.length > 1 || !Object.hasOwn(DEMOS, name)) refuseUsage(`There is no demo ${args.join(' ')}.`, HELP);
const [file, run, ...next] = DEMOS[name];
const demo = await loadWhenReady(`tools/devnet/${file}`, { needsPublished: name === 'interop' });
const exitCode = await demo[run]();
if (exitCode === 0) process.stdout.write(`\nWhat to do next:\n\n${next.map((line) => `  ${line}\n`).join('')}\n`);
process.exit(exitCode);
