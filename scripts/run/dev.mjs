import { readArguments } from '../answer-usage.mjs';
import { loadWhenReady } from '../load-when-ready.mjs';

const HELP = `npm run dev [-- --fresh --chains 2]: Redis, a local chain with USDC, verifier, agent worker, bookkeeper and gateway, until Ctrl-C.

It installs and builds what is missing. When everything is ready, .tollgate/dev.json has the addresses,
funded accounts and an API key for agent jobs; it is removed at the end. Settings of the services are environment variables, for example

  PORT=4100 PAYMENT_POLICY=bound ROUTES_FILE=routes.yaml npm run dev

Signed payments (x402, MPP) are accepted too and settled by a funded relayer; SIGNED_PAYMENTS=false turns that off.
With PAYMENT_POLICY=receipt, signed payments, facilitator and relayers are off.

After Ctrl-C or npm run stop, the next start goes on with the same chain, Redis, book, API keys and webhooks, which are in
.tollgate/world. After any other end, with another CHAIN_ID, or when the tables of the book or the devnet's contracts have
changed, it begins a new world and says where the one before is: .tollgate/old-worlds keeps the last three.

  --fresh             throw away what the last run kept
  --chains 2          start a second chain too, and sell for USDC on both and for a token of 18 decimals on the second;
                      .tollgate/payments.yaml has the options, in place of NETWORK, PAY_TO and the other settings of one

  REDIS_URL           use this Redis, if it answers, instead of one of its own; what is in it is neither moved nor thrown
                      away, and neither is the database of BOOK_DATABASE_URL
  TOLLGATE_STATE_DIR  where dev.json and the data are (default: .tollgate)
  EXPLORER_URL        block explorer for links (default: a page of its own)

A port that is taken is replaced by a free one, with a warning if PUBLIC_URL names it. Several can run at the same time.
Everything that is wrong with the settings is listed before anything starts.

Example: npm run dev -- --fresh
`;

const options = { fresh: { type: 'boolean' }, chains: { type: 'string', default: '1' } };
const { values } = readArguments(HELP, { options }, ({ values: { chains } }) => {
  if (chains !== '1' && chains !== '2') throw new Error(`--chains is 1 or 2, and not ${chains}.`);
});
const { runDev } = await loadWhenReady('tools/devnet/dev.ts');
process.exit(await runDev({ isFresh: values.fresh, hasSecondChain: values.chains === '2' }));
