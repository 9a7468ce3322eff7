import 'reflect-metadata';
import { runService } from '@tollgate/common';

import { startVerifier } from './start-verifier.js';

void runService('verifier', () => startVerifier(process.env));
