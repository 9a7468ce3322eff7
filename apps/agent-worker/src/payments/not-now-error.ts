import { AgentKitError } from '@tollgate/agent-kit/planner';

/**
 * The wallet or the journal keeps a job from being planned, not its node: it waits for as long as that lasts. It has a
 * code of the kit, which treats an unknown error as the operation's own fault.
 */
export class NotNowError extends AgentKitError {
  constructor(message: string) {
    super('NETWORK_ERROR', message);
  }
}
