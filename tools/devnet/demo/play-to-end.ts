import { keepParts, type KeptParts } from '../processes/keep-parts.js';
import { openRedis } from '../processes/redis.js';
import { waitForStopRequest } from '../processes/stop-request.js';
import { startStack, type Stack, type StackOptions } from '../stack/stack.js';

export interface DemoParts {
  /** Stops the part at the end, the last one first. */
  keep: KeptParts['keep'];
  /** Starts a stack on the Redis of REDIS_URL; its last log lines are shown if the demo fails. */
  startServices: (options?: StackOptions) => Promise<Stack>;
}

/** Plays a demo until its end, or until it is stopped, and stops its parts. Resolves with the exit code. */
export async function playToEnd(play: (parts: DemoParts) => Promise<void>): Promise<number> {
  const stopRequest = waitForStopRequest();
  const { keep, stop } = keepParts();
  let logs = (): string => '';
  const startServices = async (options: StackOptions = {}): Promise<Stack> => {
    const redis = keep(await openRedis(process.env['REDIS_URL']));
    const stack = keep(
      await startStack({ ...options, redis, onReady: (part, url) => console.log(`✓ ${part} at ${url}`) }),
    );
    logs = stack.logs;
    return stack;
  };
  try {
    const end = await Promise.race([play({ keep, startServices }), stopRequest]);
    return end === undefined ? 0 : 130;
  } catch (error) {
    console.error(`\n✗ ${error instanceof Error ? error.message : String(error)}`);
    const lastLines = logs();
    if (lastLines !== '') console.error(`\nThe last lines of the processes:\n${lastLines}`);
    return 1;
  } finally {
    await stop();
  }
}
