/** A process that uses `runService`, for its test: `slow` never finishes closing, `wrong` cannot start. */
import { ConfigurationError, runService } from '../src/index.js';

const mode = process.argv[2];
void runService('short-service', async () => {
  if (mode === 'wrong') throw new ConfigurationError(['PORT is not set.', 'HOST is not set.']);
  setInterval(() => undefined, 1_000);
  console.log('started');
  return {
    shutdownTimeoutMs: mode === 'late' ? 50 : 30_000,
    close: async () => {
      console.log('closing');
      if (mode !== 'clean') await new Promise(() => undefined);
    },
  };
});
