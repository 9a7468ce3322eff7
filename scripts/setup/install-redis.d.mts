/** Both return the way in which they got one, and reject with a StepError that says what to do. */
export function installRedis(root: string, options?: { needsServer?: boolean }): Promise<string>;
export function installRedis70(root: string): Promise<string>;
