import { AgentKitError } from '@tollgate/agent-kit/planner';

/**
 * The wallet or the journal keeps a job from being planned, not its node: the job waits for as long as that lasts. An
 * error of the kit, because any other would end the job as the operation's own fault.
 */
export class NotNowError extends AgentKitError {
  constructor(message: string) {
    super('NETWORK_ERROR', message);
  }
}
