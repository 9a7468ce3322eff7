import { MethodTable } from '@tollgate/protocol';

import { eip3009Rules } from './eip3009/method.js';
import { permit2Rules } from './permit2/method.js';
import type { VerificationMethod } from './verification-method.js';

export const verificationMethods = new MethodTable<VerificationMethod>([eip3009Rules, permit2Rules]);
