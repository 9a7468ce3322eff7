import { answerHelp, refuseUsage } from '../answer-usage.mjs';
import { loadWhenReady } from '../load-when-ready.mjs';

const HELP = `npm run dev: Redis, a local chain with USDC, verifier, agent worker, bookkeeper and gateway, until Ctrl-C.

It installs and builds what is missing. When everything is ready, .tollgate/dev.json has the addresses,
funded accounts and an API key for agent jobs; it is removed at the end. Settings of the services are environment variables, for example

  PORT=4100 PAYMENT_POLICY=bound ROUTES_FILE=routes.yaml npm run dev

Signed payments (x402, MPP) are accepted too and settled by a funded relayer; SIGNED_PAYMENTS=false turns that off.

  REDIS_URL           use this Redis, if it answers, instead of one of its own
  TOLLGATE_STATE_DIR  where dev.json and the data are (default: .tollgate)
  EXPLORER_URL        block explorer for links (default: a page of its own)

A port that is taken is replaced by a free one, with a warning if PUBLIC_URL names it. Several can run at the same time.
Everything that is wrong with the settings is listed before anything starts.
`;

const args = process.argv.slice(2);
answerHelp(args, HELP);
if (args.length > 0)
  refuseUsage(`npm run dev takes no ${args.join(' ')}: its settings are environment variables.`, HELP);
const { runDev } = await loadWhenReady('tools/devnet/dev.ts');
process.exit(await runDev());
