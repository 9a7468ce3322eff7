import 'reflect-metadata';
import { runService } from '@tollgate/common';

import { startAgentWorker } from './start-agent-worker.js';

await runService('agent-worker', () => startAgentWorker(process.env));
