/**
 * npm passes on a Ctrl-C that the terminal has sent to the whole group already: two signals within this time are one.
 */
const SAME_REQUEST_MS = 1000;

/**
 * Resolves with the reason when this process should stop: Ctrl-C, a signal, or the end of its terminal or of the npm that runs it.
 * A second Ctrl-C a second later ends the process at once; its children end with it.
 */
export function waitForStopRequest(): Promise<string> {
  return new Promise((resolve) => {
    let askedAtMs: number | undefined;
    const ask = (reason: string, isImpatient: boolean) => {
      if (askedAtMs === undefined) {
        askedAtMs = Date.now();
        resolve(reason);
      } else if (isImpatient && Date.now() - askedAtMs > SAME_REQUEST_MS) {
        process.exit(130);
      }
    };
    process.on('SIGINT', () => ask('Ctrl-C', true));
    process.on('SIGTERM', () => ask('SIGTERM', true));
    process.on('SIGHUP', () => ask('the terminal is gone', false));
    // Writing to a terminal that is gone must not end the process before it has stopped its children.
    process.stdout.on('error', () => undefined);
    process.stderr.on('error', () => undefined);
    if (process.env['npm_lifecycle_event'] === undefined) return;
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent) ask('npm is gone', false);
    }, 500).unref();
  });
}
