import { parseArgs, type ParseArgsConfig } from 'node:util';

import { Redis } from 'ioredis';

import { findRedisUrl } from './find-place.js';

/** What was typed is wrong: the help follows, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What was asked for was not done; the message says why, and what to do. The exit code is 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** An option with a value, and one without: what the commands describe theirs by. */
export const TEXT = { type: 'string' } as const;
export const FLAG = { type: 'boolean' } as const;
export const HELP_FLAG = { ...FLAG, short: 'h' } as const;

/** @throws UsageError for an option that is not described, or has no value */
export function readArguments<const Options extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: Options,
) {
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Who names two keys to revoke must not believe that both are.
 * @throws UsageError for more words than the command takes, itself included; without them, for one may be a secret
 */
export function refuseMoreThan(taken: 1 | 2, [command = '', ...words]: readonly string[]): void {
  if (words.length < taken) return;
  throw new UsageError(taken === 1 ? `${command} takes options only` : `${command} takes one at a time`);
}

/** Runs a command's main function, prints what it answers, and sets the exit code. */
export async function runCommand(help: string, main: () => Promise<string>): Promise<void> {
  try {
    console.log(await main());
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`${error.message}\n\n${help}`);
      process.exitCode = 2;
      return;
    }
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

/**
 * Works with the journal's Redis and disconnects. It is tried once: a command is not a service.
 * @throws CommandError when it does not answer; never with its URL, which may hold a password
 */
export async function withRedis<T>(url: string | undefined, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(findRedisUrl(url), { lazyConnect: true, retryStrategy: () => null });
  let trouble: NodeJS.ErrnoException | undefined;
  redis.on('error', (error) => (trouble = error));
  try {
    await redis.connect().catch((cause: Error) => {
      // What it rejects with says only that the connection is closed; the code has no address in it.
      const reason = trouble?.code ?? trouble?.message ?? cause.message;
      throw new CommandError(`Redis did not answer (${reason}). Set REDIS_URL, or start one with npm run dev.`);
    });
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
