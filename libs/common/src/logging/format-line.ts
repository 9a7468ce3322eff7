import { pino } from 'pino';

/** Fields that the readable form omits or shows elsewhere. */
const SHOWN_ELSEWHERE = new Set(['level', 'time', 'pid', 'hostname', 'name', 'context', 'msg', 'err']);

/** Formats a JSON log line for people: time, level, context, message, fields, stack. */
export function formatLine(line: string): string {
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
