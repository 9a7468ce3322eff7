import { MethodTable } from '@tollgate/chain';

import { eip3009 } from './eip3009/method.js';
import { permit2 } from './permit2/method.js';
import type { VerificationMethod } from './verification-method.js';

export const verificationMethods = new MethodTable<VerificationMethod>([eip3009, permit2]);
