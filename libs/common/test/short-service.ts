/**
 * A process that uses `runService`, for its test: `slow` never finishes closing, `wrong` cannot start, `opening` waits
 * until it is closed, `broken` cannot go on, and `refused` finds that out while it is closed. It prints on stderr alone, since
 * what comes by two streams has no order.
 */
import { ConfigurationError } from '../../config/src/configuration-error.js';
import { runService } from '../src/shutdown/run-service.js';

const mode = process.argv[2];
void runService('short-service', async () => {
  if (mode === 'wrong') throw new ConfigurationError(['PORT is not set.', 'HOST is not set.']);
  setInterval(() => undefined, 1_000);
  console.error('started');
  let end: (reason: Error) => void = () => undefined;
  const opened = new Promise((resolve, reject) => {
    if (mode === 'broken') throw new ConfigurationError(['REDIS_URL is another one.']);
    if (mode === 'opening' || mode === 'refused') end = reject;
    else resolve(undefined);
  });
  return {
    opened,
    shutdownTimeoutMs: mode === 'late' ? 50 : 30_000,
    close: async () => {
      console.error('closing');
      end(mode === 'refused' ? new ConfigurationError(['HOST is another one.']) : new Error('closed'));
      if (mode === 'slow' || mode === 'late') await new Promise(() => undefined);
    },
  };
});
