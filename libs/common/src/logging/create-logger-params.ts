import type { Params } from 'nestjs-pino';
import { pino } from 'pino';

import type { LogEnvironment } from '../config/log.environment.js';
import { createLogStream, type LogStream } from './log-stream.js';
import { currentRequestId } from './request-id.js';

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
  ...['authorization', '["x-payment"]', '["payment-signature"]', '["sign-in-with-x"]', 'cookie'],
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
