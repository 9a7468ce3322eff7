import { Logger } from '@nestjs/common';

/** Reports money that arrived and bought nothing; its lines are never sampled. */
export const REFUND_LOG = new Logger('Refunds');
