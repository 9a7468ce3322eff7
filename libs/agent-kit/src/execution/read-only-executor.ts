import { AgentKitError } from '../agent-kit-error.js';
import type { Executor } from './executor.js';

/** Plans can be made and looked at; none is carried out. */
export const readOnlyExecutor: Executor = {
  async execute(plan) {
    throw new AgentKitError('READ_ONLY', `This kit only reads; ${plan.operation} was planned and not sent.`);
  },
};
