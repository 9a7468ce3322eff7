import { PinoLogger } from 'nestjs-pino';
import { pino, type LoggerOptions } from 'pino';

import { listSecrets } from '../../../config/src/list-secrets.js';
import { LogEnvironment } from '../../../config/src/process.environment.js';
import { readEnvironment } from '../../../config/src/read-environment.js';
import { RedisEnvironment } from '../../../config/src/redis.environment.js';
import { RpcEnvironment } from '../../../config/src/rpc.environment.js';
import { withRequestId } from '../../../http/src/request-id.js';
import { createLoggerParams, type LogStream } from './create-logger-params.js';

function createLogger(env: Record<string, string> = {}, secrets: string[] = []) {
  const lines: string[] = [];
  const log = readEnvironment(LogEnvironment, env);
  const output = { write: (line: string) => void lines.push(line) };
  const [options, stream] = createLoggerParams({ service: 'gateway', log, secrets, output }).pinoHttp as [
    LoggerOptions,
    LogStream,
  ];
  return { logger: pino(options, stream), lines };
}

describe('logging', () => {
  it('redacts proofs, credentials and signatures, wherever an object holds them', () => {
    const { logger, lines } = createLogger();
    const payments = {
      'x-payment': 'canary',
      'payment-signature': 'canary',
      'payment-authorization': 'canary',
      'sign-in-with-x': 'canary',
    };
    const headers = { ...payments, authorization: 'canary', cookie: 'canary', accept: 'kept' };
    logger.info({ headers, req: { headers }, signature: 'canary', job: { privateKey: 'canary' } }, 'paid');
    logger.info(headers, 'bare headers');
    expect(lines.join('')).not.toContain('canary');
    expect(lines.join('').match(/kept/g)).toHaveLength(3);
  });

  it('redacts the secrets of the configuration in any text', () => {
    const secrets = listSecrets(
      readEnvironment(RedisEnvironment, { REDIS_URL: 'redis://user:pass%22word@ledger:6379/0' }),
    );
    const { logger, lines } = createLogger({}, secrets);
    logger.error(new Error('cannot reach redis://user:pass%22word@ledger:6379, password pass"word'));
    expect(secrets).toEqual(['pass%22word', 'pass"word']);
    expect(lines.join('')).toContain('ledger:6379');
    expect(lines.join('')).not.toMatch(/pass(%22|\\*")word/);
  });

  it.each([
    'redis+cluster://user:pass%22word@a:6379,b:6379',
    'redis+cluster://user:pass%22word@a,b',
    'redis+sentinel://user:pass%22word@a:26379,[::1]:26379/primary',
    'redis+sentinel://a:26379,b:26379/primary?db=1&sentinelPassword=pass%22word',
  ])('recognises the passwords of %s', (url) => {
    expect(listSecrets(readEnvironment(RedisEnvironment, { REDIS_URL: url }))).toEqual(['pass%22word', 'pass"word']);
  });

  // Prevents: the API key of a provider that expects it as the user name appears in any log line that quotes the URL.
  it('recognises a key by its length, wherever it is in a URL', () => {
    const url = 'https://key-as-user-name@rpc.example/v2/key-in-the-path-x?k=key-in-the-query-x&chain=sei';
    const secrets = listSecrets(readEnvironment(RpcEnvironment, { RPC_URL: url }));
    expect(secrets.sort()).toEqual(['key-as-user-name', 'key-in-the-path-x', 'key-in-the-query-x']);
  });

  it('adds the request id of its context to every line, and none outside', async () => {
    const { logger, lines } = createLogger();
    await withRequestId('req-1', async () => {
      await Promise.resolve();
      logger.info('inside');
    });
    logger.info('outside');
    expect(lines.map((line) => (JSON.parse(line) as { requestId?: string }).requestId)).toEqual(['req-1', undefined]);
  });

  it('applies the log level, and writes readable lines in pretty format', () => {
    const { logger, lines } = createLogger({ LOG_LEVEL: 'warn', LOG_FORMAT: 'pretty' });
    logger.info('not shown');
    logger.warn({ context: 'Redis', attempt: 3 }, 'lost');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}\[Redis\] lost attempt=3\n$/);
  });

  it("logs Nest's start-up messages only at level debug, and its warnings always", () => {
    const shown = (env: Record<string, string>) => {
      const { logger, lines } = createLogger(env);
      logger.info({ context: 'InstanceLoader' }, 'AppModule dependencies initialized');
      logger.warn({ context: 'NestApplication' }, 'deprecated');
      logger.info({ context: 'Gateway' }, 'listening');
      return lines.map((line) => (JSON.parse(line) as { level: number; msg: string }).msg);
    };
    expect(shown({})).toEqual(['deprecated', 'listening']);
    expect(shown({ LOG_LEVEL: 'debug' })).toEqual(['AppModule dependencies initialized', 'deprecated', 'listening']);
  });

  it('configures nestjs-pino', () => {
    expect(() => new PinoLogger(createLoggerParams({ service: 's', log: new LogEnvironment() }))).not.toThrow();
  });
});
