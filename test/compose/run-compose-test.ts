/**
 * Starts the compose stack with its devnet, uses it while its processes are killed, and stops everything. Run by
 * `npm run test:compose`, with one Redis, and `npm run test:compose -- --cluster`, with six servers; needs a Docker engine.
 */
import { ComposeStack } from './compose-stack.js';
import { tryCluster } from './try-cluster.js';
import { tryOneServer } from './try-one-server.js';

const onCluster = process.argv.includes('--cluster');
const stack = await ComposeStack.create(
  onCluster ? ['docker-compose.yml', 'docker-compose.cluster.yml'] : ['docker-compose.yml'],
);
let failed = true;
try {
  await (onCluster ? tryCluster(stack) : tryOneServer(stack));
  failed = false;
} finally {
  await stack.end(failed);
}
console.log(`\ncompose${onCluster ? ' with a cluster' : ''}: all well`);
