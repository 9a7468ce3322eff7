import { AgentKitError } from '../agent-kit-error.js';
import type { Executor } from './executor.js';

/** Plans can be made and read, but not executed. */
export const readOnlyExecutor: Executor = {
  async execute(plan) {
    throw new AgentKitError('READ_ONLY', `This kit only reads; ${plan.operation} was planned and not sent.`);
  },
};
