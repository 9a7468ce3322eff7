import { ConfigurationError } from '@tollgate/config';
import { StoreError } from '@tollgate/redis';

export interface RunningService {
  /** Stops taking work, finishes running work, and closes connections. */
  close(): Promise<unknown>;
  shutdownTimeoutMs: number;
  /** What a service that already works still waits for; rejects when it cannot go on. `close()` may come before. */
  opened?: Promise<unknown>;
}

/** State of the whole process: set by the first signal. */
let stopping = false;

/** True from the first stop signal on; readiness then fails, so that no new traffic is routed here. */
export function isStopping(): boolean {
  return stopping;
}

/**
 * Runs a process: starts the service, or prints the error, closes what was started, and exits 1. At SIGTERM or SIGINT it
 * closes the service and exits 0, or 1 if that takes longer than `shutdownTimeoutMs`. A second signal exits at once.
 */
export async function runService(name: string, start: () => Promise<RunningService>): Promise<void> {
  let service: RunningService | null = null;
  const stop = (signal: NodeJS.Signals): void => {
    process.once('SIGTERM', () => process.exit(128 + 15));
    process.once('SIGINT', () => process.exit(128 + 2));
    stopping = true;
    if (service === null) process.exit(0);
    void close(name, service, { after: signal, code: 0 });
  };
  const onSigterm = () => onSignal('SIGTERM');
  const onSigint = () => onSignal('SIGINT');
  const onSignal = (signal: NodeJS.Signals) => {
    process.off('SIGTERM', onSigterm);
    process.off('SIGINT', onSigint);
    stop(signal);
  };
  process.on('SIGTERM', onSigterm);
  process.on('SIGINT', onSigint);
  try {
    service = await start();
    await service.opened;
  } catch (error) {
    // Closing ends what was still waited for, but with no refusal.
    if (!stopping || isRefusal(error)) console.error(`${name} cannot start. ${explain(error)}`);
    if (stopping) return;
    if (service !== null) await close(name, service, { after: 'that', code: 1 });
    process.exit(1);
  }
}

async function close(
  name: string,
  service: RunningService,
  { after, code }: { after: string; code: number },
): Promise<void> {
  const timer = setTimeout(() => {
    console.error(`${name} did not finish within ${service.shutdownTimeoutMs} ms of ${after}.`);
    process.exit(1);
  }, service.shutdownTimeoutMs);
  try {
    await service.close();
    clearTimeout(timer);
    process.exit(code);
  } catch (error) {
    console.error(`${name} could not stop cleanly. ${explain(error)}`);
    process.exit(1);
  }
}

function isRefusal(error: unknown): error is ConfigurationError | StoreError {
  return error instanceof ConfigurationError || error instanceof StoreError;
}

/** An error for the operator explains itself; other errors need their stack. */
function explain(error: unknown): string {
  if (error instanceof ConfigurationError) return error.message;
  if (error instanceof StoreError) return `${error.message} ${error.hint}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
