import { answerHelp, refuseUsage } from './answer-usage.mjs';
import { loadWhenReady } from './load-when-ready.mjs';

const HELP = `npm run demo [-- <name>]: shows payments or agent jobs on a local chain, and checks them.

  npm run demo             one payment from the 402 to the refused second use, with every HTTP exchange shown
  npm run demo -- jobs     one agent job of each kind from POST to event, with its transactions, two that fail, webhooks
  npm run demo -- book     what the book keeps of sales and of a refused payment, compared with the chain; a broken row
  npm run demo -- interop  two published x402 and MPP clients pay the gateway, and pay nothing for an answer that failed;
                           installs them first (550 MB)

It installs and builds what is missing, starts Redis, a local chain and the services on free ports, and stops them
at the end. The exit code is 0 if every check passed.

  REDIS_URL           use this Redis, if it answers, instead of one of its own
  TOLLGATE_STATE_DIR  folder of the run's data (default: .tollgate)
`;

const args = process.argv.slice(2);
answerHelp(args, HELP);
const [name = 'payment'] = args;
if (args.length > 1 || !['payment', 'jobs', 'book', 'interop'].includes(name)) {
  refuseUsage(`There is no demo ${args.join(' ')}.`, HELP);
}
if (name === 'jobs') {
  const { runJobsDemo } = await loadWhenReady('tools/devnet/jobs-demo/run-jobs-demo.ts');
  process.exit(await runJobsDemo());
}
if (name === 'book') {
  const { runBookDemo } = await loadWhenReady('tools/devnet/book-demo/run-book-demo.ts');
  process.exit(await runBookDemo());
}
if (name === 'interop') {
  const { runInteropDemo } = await loadWhenReady('tools/devnet/interop/run-interop-demo.ts', { needsPublished: true });
  process.exit(await runInteropDemo());
}
const { runDemo } = await loadWhenReady('tools/devnet/demo/demo.ts');
process.exit(await runDemo());
