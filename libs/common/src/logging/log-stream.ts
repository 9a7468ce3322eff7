import { pino } from 'pino';

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

/** Fields that the readable form omits or shows elsewhere. */
const SHOWN_ELSEWHERE = new Set(['level', 'time', 'pid', 'hostname', 'name', 'context', 'msg', 'err']);

/** Formats a JSON log line for people: time, level, context, message, fields, stack. */
function formatLine(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const time = new Date(Number(entry['time'])).toISOString().slice(11, 23);
  const level = (pino.levels.labels[Number(entry['level'])] ?? 'info').toUpperCase().padEnd(5);
  const context = typeof entry['context'] === 'string' ? `[${entry['context']}] ` : '';
  const fields = Object.entries(entry)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const error = entry['err'] as { stack?: unknown } | undefined;
  const stack = typeof error?.stack === 'string' ? `\n${error.stack}` : '';
  const message = typeof entry['msg'] === 'string' ? entry['msg'] : '';
  return `${time} ${level} ${context}${message}${fields.join('')}${stack}\n`;
}
