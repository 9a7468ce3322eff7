import type { LogEnvironment } from '@tollgate/config';
import { currentRequestId } from '@tollgate/http';
import type { Params } from 'nestjs-pino';
import { pino } from 'pino';

export interface LoggerSettings {
  /** The `name` of every line: gateway, verifier, agent-worker. */
  service: string;
  log: LogEnvironment;
  /** Texts to redact from every line; see `listSecrets`. */
  secrets?: readonly string[];
  /** Used instead of standard output. */
  output?: LogStream;
}

const SECRET_FIELDS = [
  ...['authorization', '["x-payment"]', '["payment-signature"]', '["payment-authorization"]', '["sign-in-with-x"]'],
  'cookie',
  ...['signature', 'secret', 'password', 'privateKey'],
];

/** Contexts of Nest's start-up messages, a line per module and route, which only help to debug the wiring. */
const STARTUP_CONTEXTS: ReadonlySet<unknown> = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
  'NestMicroservice',
]);

/**
 * Parameters for `LoggerModule.forRoot`. Lines written inside `withRequestId` carry `requestId`. Requests are not
 * logged automatically, since that halves the throughput of a gate; the paywall logs payments and failures.
 */
export function createLoggerParams({ service, log, secrets = [], output }: LoggerSettings): Params {
  const stream = createLogStream({ format: log.logFormat, secrets, ...(output === undefined ? {} : { output }) });
  return {
    forRoutes: [],
    pinoHttp: [
      {
        name: service,
        level: log.logLevel,
        autoLogging: false,
        mixin: () => {
          const requestId = currentRequestId();
          return requestId === undefined ? {} : { requestId };
        },
        hooks: {
          logMethod(args, method, level) {
            const { context } = Object(args[0]) as { context?: unknown };
            if (level === pino.levels.values['info'] && STARTUP_CONTEXTS.has(context)) this.debug(...args);
            else method.apply(this, args);
          },
        },
        redact: { paths: SECRET_FIELDS.flatMap(atEveryDepth), censor: '[redacted]' },
      },
      stream,
    ],
  };
}

/** Header objects appear as such, inside a request, or inside an error that holds a request. */
function atEveryDepth(field: string): string[] {
  const at = (parent: string) => (field.startsWith('[') ? `${parent}${field}` : `${parent}.${field}`);
  return [field, at('*'), at('*.headers'), at('*.*')];
}

export interface LogStream {
  write(line: string): void;
}

/** Standard output, with the secrets of this process redacted from every line. */
function createLogStream(options: {
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
