import { loadWhenReady } from './load-when-ready.mjs';

const HELP = `npm run demo: one payment from the 402 to the refused second use, with every HTTP exchange shown.

It installs and builds what is missing, starts Redis, a local chain, verifier and gateway on free ports, and stops them
at the end. The exit code is 0 when every answer was as it should be.

  REDIS_URL           use this Redis, if it answers, instead of one of its own
  TOLLGATE_STATE_DIR  where the data is kept meanwhile (default: .tollgate)
`;

if (process.argv.slice(2).some((flag) => flag === '--help' || flag === '-h')) {
  process.stdout.write(HELP);
  process.exit(0);
}
const { runDemo } = await loadWhenReady('devnet/demo.ts');
process.exit(await runDemo());
