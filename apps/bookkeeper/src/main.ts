import 'reflect-metadata';
import { runService } from '@tollgate/common';

import { startBookkeeper } from './start-bookkeeper.js';

void runService('bookkeeper', () => startBookkeeper(process.env));
