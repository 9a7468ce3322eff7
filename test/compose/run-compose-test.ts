/**
 * Starts the compose stack with its devnet, uses it while its processes are killed, and stops everything. Run by
 * `npm run test:compose`, with one Redis, `npm run test:compose -- --cluster`, with six servers, and `-- --two-chains`, with
 * two chains; needs a Docker engine.
 */
import { ComposeStack } from './compose-stack.js';
import { tryCluster } from './try-cluster.js';
import { tryOneServer } from './try-one-server.js';
import { tryTwoChains } from './try-two-chains.js';

const VARIANTS = { cluster: tryCluster, 'two-chains': tryTwoChains };

const [variant, tryVariant] = Object.entries(VARIANTS).find(([name]) => process.argv.includes(`--${name}`)) ?? [];
const stack = await ComposeStack.create([
  'docker-compose.yml',
  ...(variant === undefined ? [] : [`docker-compose.${variant}.yml`]),
]);
if (variant === 'two-chains') stack.env['TOLLGATE_ENV_FILE'] = 'deploy/two-chains.env';
let failed = true;
try {
  await (tryVariant ?? tryOneServer)(stack);
  failed = false;
} finally {
  await stack.end(failed);
}
console.log(`\ncompose${variant === undefined ? '' : `, ${variant}`}: all well`);
