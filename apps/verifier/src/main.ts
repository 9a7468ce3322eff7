import 'reflect-metadata';
import { runService } from '@tollgate/common';

import { startVerifier } from './start-verifier.js';

await runService('verifier', () => startVerifier(process.env));
