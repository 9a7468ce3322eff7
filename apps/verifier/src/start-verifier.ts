import { setTimeout as sleep } from 'node:timers/promises';

import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ChainReader, ChainUnavailableError } from '@tollgate/chain';
import {
  ConfigurationError,
  PATTERNS,
  ProblemFilter,
  readEnvironment,
  RequestReplyServer,
  VERIFY_QUEUE,
  type RunningService,
} from '@tollgate/common';
import { type Journal, JournalError, JournalUnavailableError, type LaneId } from '@tollgate/journal';
import { Ledger, LedgerError, LedgerUnavailableError } from '@tollgate/ledger';
import { AcceptedAssets } from '@tollgate/verification';
import { Logger } from 'nestjs-pino';

import { TokenDecimals } from './settings/token-decimals.js';
import { SETTLEMENT, type Settlement } from './settlement/create-settlement.js';
import { VerifierEnvironment } from './verifier.config.js';
import { VerifierModule } from './verifier.module.js';

const RETRY_MS = 1000;
const FIRST_HEAD_MS = 5000;

/**
 * Opens health and metrics first, then the ledger, then takes questions. Waits for Redis if it is down, and starts
 * without the chain if that is down; refuses to start on another chain, or with a Redis that may lose payments.
 */
export async function startVerifier(env: NodeJS.ProcessEnv): Promise<RunningService & { app: NestFastifyApplication }> {
  const environment = readEnvironment(VerifierEnvironment, env);
  const { shutdownTimeoutMs } = environment.shutdown;
  const server = new RequestReplyServer({
    redisUrl: environment.redis.queueRedisUrl,
    queue: VERIFY_QUEUE,
    patterns: PATTERNS[VERIFY_QUEUE],
    maxInFlight: environment.server.maxInFlight,
    closeTimeoutMs: Math.ceil(shutdownTimeoutMs * 0.8),
  });
  let isOpen = false;
  const app = await NestFactory.create<NestFastifyApplication>(
    VerifierModule.forRoot(environment, server, () => isOpen),
    new FastifyAdapter({ forceCloseConnections: 'idle' }),
    { bufferLogs: true, abortOnError: false },
  );
  const logger = app.get(Logger);
  app.useLogger(logger);
  app.useGlobalFilters(new ProblemFilter());
  app.connectMicroservice({ strategy: server });
  const settlement = app.get<Settlement | null>(SETTLEMENT);
  if (settlement) app.connectMicroservice({ strategy: settlement.queue });
  await app.listen(environment.server.verifierPort, environment.server.verifierHost);
  for (const warning of environment.payment.warnings) logger.warn(`verifier: ${warning}`);
  logger.log(`verifier: health and metrics at ${await app.getUrl()}`);
  const close = async (): Promise<void> => {
    // Both take questions, so both stop at once: neither waits for the other's open questions.
    await Promise.all([settlement?.close(), server.close()]);
    await app.close();
  };
  try {
    const chain = app.get(ChainReader);
    const headBlockNumber = await readFirstHead(chain, logger);
    // Without a head the decimals are compared when the chain is back; until then the verifier is not ready.
    if (headBlockNumber !== null) await compareDecimals(app.get(TokenDecimals));
    await openLedger(app.get(Ledger), headBlockNumber, logger);
    await warnOfOtherDomains(app.get(AcceptedAssets), chain, logger);
    await app.startAllMicroservices();
    if (settlement) await startSettlement(settlement, logger);
    isOpen = true;
  } catch (error) {
    await close();
    throw error;
  }
  logger.log(`verifier: takes questions, policy ${environment.payment.paymentPolicy}`);
  return { app, close, shutdownTimeoutMs };
}

/** The ledger's Redis has just answered, but it may go down again; then this waits for it. */
async function startSettlement({ journal, relayers }: Settlement, logger: Logger): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await journal.open();
      await assertOwnAccounts(journal, relayers.lanes);
      break;
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      if (!(error instanceof JournalUnavailableError)) {
        throw new ConfigurationError([`REDIS_URL: ${error.message} ${error.hint}`]);
      }
      if (attempt === 1) logger.warn(`verifier: waits for the journal's Redis: ${error.message}`);
      await sleep(RETRY_MS);
    }
  }
  relayers.start();
  logger.log(`verifier: settles signed payments by ${relayers.addresses.join(', ')}`);
}

/**
 * Rejects relayers that are also wallets of agent jobs: each nonce of such an account would be used twice.
 * @throws ConfigurationError for such relayers, JournalUnavailableError
 */
async function assertOwnAccounts(journal: Journal, lanes: readonly LaneId[]): Promise<void> {
  const foreign = await journal.findForeign(lanes);
  if (foreign.length === 0) return;
  throw new ConfigurationError(
    foreign.map(
      ({ address }) =>
        `RELAYER_PRIVATE_KEYS: ${address} is a wallet of agent jobs. Use an account that serves no other purpose.`,
    ),
  );
}

async function readFirstHead(chain: ChainReader, logger: Logger): Promise<number | null> {
  try {
    return await chain.readHead(Date.now() + FIRST_HEAD_MS);
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    if (error.reason === 'rpc_wrong_chain') throw new ConfigurationError([error.message]);
    logger.warn(`verifier: the chain cannot be read yet: ${error.message}`);
    return null;
  }
}

/** Refuses to start when the token's decimals differ. If the chain is down again, they are compared later. */
async function compareDecimals(decimals: TokenDecimals): Promise<void> {
  await decimals.assertEqual().catch((error: unknown) => {
    if (!(error instanceof ChainUnavailableError)) throw error;
  });
}

/** A wrong domain name makes every signature invalid, and no refusal says why, so this logs a warning. */
async function warnOfOtherDomains(assets: AcceptedAssets, chain: ChainReader, logger: Logger): Promise<void> {
  try {
    for (const { asset, name, version } of await assets.findMisnamed(chain, Date.now() + FIRST_HEAD_MS)) {
      logger.warn(
        `verifier: signed payments in ${asset} will be refused: the EIP-712 domain of its contract has another name than ` +
          `"${name}" or another version than "${version}"; see ASSET_NAME, ASSET_VERSION and FACILITATOR_ASSETS`,
      );
    }
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
  }
}

async function openLedger(ledger: Ledger, headBlockNumber: number | null, logger: Logger): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ledger.open(headBlockNumber === null ? {} : { headBlockNumber });
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error;
      if (!(error instanceof LedgerUnavailableError)) {
        throw new ConfigurationError([`REDIS_URL: ${error.message} ${error.hint}`]);
      }
      if (attempt === 1) logger.warn(`verifier: waits for the ledger's Redis: ${error.message}`);
      await sleep(RETRY_MS);
    }
  }
}
