import { pino } from 'pino';

import { formatLine } from './format-line.js';

export interface LogStream {
  write(line: string): void;
}

/** Standard output, with the secrets of this process redacted from every line. */
export function createLogStream(options: {
  format: 'json' | 'pretty';
  secrets: readonly string[];
  /** Used instead of standard output. */
  output?: LogStream;
}): LogStream {
  const output = options.output ?? pino.destination({ dest: 1, sync: false });
  // Secrets appear in a line with JSON escapes.
  const secrets = options.secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
  return {
    write(line) {
      let safe = line;
      for (const secret of secrets) if (safe.includes(secret)) safe = safe.replaceAll(secret, '[redacted]');
      output.write(options.format === 'pretty' ? formatLine(safe) : safe);
    },
  };
}
