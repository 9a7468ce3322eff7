import 'reflect-metadata';
import { runService } from '@tollgate/common';

import { createWalletPlanning } from './planning/create-wallet-planning.js';
import { startAgentWorker } from './start-agent-worker.js';

void runService('agent-worker', () => startAgentWorker(process.env, createWalletPlanning));
