import { setTimeout as sleep } from 'node:timers/promises';

import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ChainReader, ChainUnavailableError } from '@tollgate/chain';
import { type RunningService } from '@tollgate/common';
import { ConfigurationError, openWhenUp, readEnvironment, warningsOf } from '@tollgate/config';
import { checkCrypto } from '@tollgate/crypto';
import { arriveWithin, closeWhenIdle, ProblemFilter } from '@tollgate/http';
import type { Ledger } from '@tollgate/ledger';
import { StoreUnavailableError } from '@tollgate/redis';
import { RequestReplyServer } from '@tollgate/transport';
import { Logger } from 'nestjs-pino';

import { VerifierEnvironment } from './config/verifier.config.js';
import { VerifierConnections } from './connections/verifier-connections.js';
import { TokenComparison } from './settings/token-comparison.js';
import { SettlementService } from './settlement/settlement.service.js';
import { VerifierModule } from './verifier.module.js';

const RETRY_MS = 1000;
const FIRST_HEAD_MS = 5000;
/** The ledger takes a head for as long after its start. */
const LATE_HEAD_MS = 60_000;

/**
 * Opens health and metrics first, then the ledger, then takes questions. Waits for Redis if it is down, and starts
 * without the chain if that is down, and with a token whose decimals differ; refuses to start on another chain, or with
 * a Redis that may lose payments.
 */
export async function startVerifier(env: NodeJS.ProcessEnv): Promise<RunningService & { app: NestFastifyApplication }> {
  const secp256k1 = await checkCrypto();
  const environment = readEnvironment(VerifierEnvironment, env);
  const app = await NestFactory.create<NestFastifyApplication>(
    VerifierModule.forRoot(environment),
    new FastifyAdapter(arriveWithin()),
    { bufferLogs: true, abortOnError: false },
  );
  closeWhenIdle(app.getHttpAdapter().getInstance(), 0);
  const logger = app.get(Logger);
  app.useLogger(logger);
  app.useGlobalFilters(new ProblemFilter());
  app.connectMicroservice({ strategy: app.get(RequestReplyServer) });
  const settlement = environment.settlement.signers.length > 0 ? app.get(SettlementService) : null;
  if (settlement) app.connectMicroservice({ strategy: settlement.queue });
  await app.listen(environment.server.verifierPort, environment.server.verifierHost);
  logger.log(`verifier: secp256k1: ${secp256k1}`);
  for (const warning of warningsOf(environment)) logger.warn(`verifier: ${warning}`);
  logger.log(`verifier: health and metrics at ${await app.getUrl()}`);
  const tokens = app.get(TokenComparison);
  try {
    const chain = app.get(ChainReader);
    const headBlockNumber = await readFirstHead(chain, logger);
    // Without a head the tokens are compared when the chain is back; until then the verifier is not ready.
    await tokens.start();
    const connections = app.get(VerifierConnections);
    const { ledger } = connections;
    const { chainId } = environment.payment;
    const openLedger = () =>
      ledger.open(headBlockNumber === null ? undefined : { chainId, blockNumber: headBlockNumber });
    await openWhenUp("verifier: waits for the ledger's Redis", openLedger, logger);
    if (headBlockNumber === null) void tellHead(ledger, { chain, chainId }, logger);
    // The ledger's Redis has just answered, but it may go down again; then this waits for it.
    if (settlement) await openWhenUp("verifier: waits for the journal's Redis", () => settlement.open(), logger);
    // Nothing is waited for once questions are taken: a stop during the start would lose them.
    await app.startAllMicroservices();
    if (settlement) {
      settlement.relayers.start();
      logger.log(`verifier: settles signed payments by ${settlement.relayers.addresses.join(', ')}`);
    }
    connections.isOpen = true;
  } catch (error) {
    await app.close();
    throw error;
  }
  const judged = environment.options.filter((option) => tokens.findFault(option) === null);
  const names = judged.flatMap((option) => environment.nameOption(option).option ?? []);
  const about = names.length > 0 ? ` about ${names.join(', ')}` : '';
  logger.log(`verifier: takes questions${about}, policy ${environment.payment.paymentPolicy}`);
  return { app, close: () => app.close(), shutdownTimeoutMs: environment.shutdown.shutdownTimeoutMs };
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

/**
 * Tells a ledger that was opened without the chain's head what it is, once the chain can be read: without it, a new ledger
 * refuses payments of its first half minute as older than itself, because the chain's clock may run ahead.
 */
async function tellHead(
  ledger: Ledger,
  { chain, chainId }: { chain: ChainReader; chainId: number },
  logger: Logger,
): Promise<void> {
  const untilMs = performance.now() + LATE_HEAD_MS;
  while (performance.now() < untilMs) {
    await sleep(RETRY_MS, undefined, { ref: false });
    try {
      const blockNumber = await chain.readHead(Date.now() + FIRST_HEAD_MS);
      await ledger.open({ chainId, blockNumber });
      logger.log(`verifier: the chain can be read, at block ${blockNumber}`);
      return;
    } catch (error) {
      if (error instanceof ChainUnavailableError || error instanceof StoreUnavailableError) continue;
      logger.error(error);
      return;
    }
  }
}
