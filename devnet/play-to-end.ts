import type { Stack } from './stack.js';
import { waitForStopRequest } from './stop-request.js';

export interface DemoParts {
  /** Stops the part at the end, the last one first. */
  keep: <Part extends { stop(): Promise<void> }>(part: Part) => Part;
  /** The same for the stack, whose last log lines are shown if the demo fails. */
  keepStack: (stack: Stack) => Stack;
}

/** Plays a demo until its end, or until it is stopped, and stops its parts. Resolves with the exit code. */
export async function playToEnd(play: (parts: DemoParts) => Promise<void>): Promise<number> {
  const stopRequest = waitForStopRequest();
  const kept: { stop(): Promise<void> }[] = [];
  let logs = (): string => '';
  const parts: DemoParts = {
    keep: (part) => {
      kept.push(part);
      return part;
    },
    keepStack: (stack) => {
      logs = stack.logs;
      return parts.keep(stack);
    },
  };
  try {
    const end = await Promise.race([play(parts), stopRequest]);
    return end === undefined ? 0 : 130;
  } catch (error) {
    console.error(`\n✗ ${error instanceof Error ? error.message : String(error)}`);
    const lastLines = logs();
    if (lastLines !== '') console.error(`\nThe last lines of the processes:\n${lastLines}`);
    return 1;
  } finally {
    for (const part of kept.reverse()) await part.stop();
  }
}
