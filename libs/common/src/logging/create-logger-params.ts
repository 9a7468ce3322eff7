import type { Params } from 'nestjs-pino';
import { pino } from 'pino';

import type { LogEnvironment } from '../config/log.environment.js';
import { createLogStream, type LogStream } from './log-stream.js';
import { currentRequestId } from './request-id.js';

export interface LoggerSettings {
  /** `name` of every line: gateway, verifier, agent-worker. */
  service: string;
  log: LogEnvironment;
  /** Struck out of every line; see `listSecrets`. */
  secrets?: readonly string[];
  /** Instead of standard output. */
  output?: LogStream;
}

const SECRET_FIELDS = [
  ...['authorization', '["x-payment"]', '["payment-signature"]', '["sign-in-with-x"]', 'cookie'],
  ...['signature', 'secret', 'password', 'privateKey'],
];

/** What Nest tells of its own start: a line per module and route, of use only to who debugs the wiring. */
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
 * logged by themselves: that halves the rate of a gate, so the paywall logs what was paid or failed.
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

/** Header objects are logged as themselves, in a request, or in an error with a request. */
function atEveryDepth(field: string): string[] {
  const at = (parent: string) => (field.startsWith('[') ? `${parent}${field}` : `${parent}.${field}`);
  return [field, at('*'), at('*.headers'), at('*.*')];
}
