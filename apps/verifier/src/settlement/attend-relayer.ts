import { setMaxListeners } from 'node:events';

import {
  RequestReplyServer,
  SETTLE_QUEUE,
  SETTLE_SIGNED_PAYMENT,
  type RequestReplyContext,
  type SettlementResult,
} from '@tollgate/common';
import { pause, type Chain, type Journal, type LaneRunnerOptions } from '@tollgate/journal';

import type { AskersSettings } from '../settings/askers-settings.js';
import { parseSettleRequest, type SettleQuestion } from './parse-settle-request.js';
import { RelayerTender } from './relayer-tender.js';

export interface SettleQueue {
  redisUrl: string;
  maxInFlight: number;
  closeTimeoutMs: number;
}

export interface AttendedParts {
  journal: Journal;
  chain: Chain;
  queue: SettleQueue;
  askers: Pick<AskersSettings, 'findFault'>;
  /** Aborted when this process stops: no further question is taken. */
  leaving: AbortSignal;
  onTrouble: (error: unknown) => void;
}

type Settle = (question: SettleQuestion, signal: AbortSignal) => Promise<SettlementResult>;

const LOOK_EVERY_MS = 500;

/**
 * Serves the settle queue while this process holds a relayer that can settle, so that requests only reach processes
 * that can act on them. A relayer that cannot settle, for lack of gas for instance, leaves them to the others. Resolves
 * once every question that was taken has its answer.
 */
export function attendRelayer(parts: AttendedParts, settle: Settle): NonNullable<LaneRunnerOptions['attend']> {
  return async ({ lane, signal }) => {
    // Every waiting request listens to it.
    setMaxListeners(0, signal);
    const tender = new RelayerTender(parts, lane);
    const over = AbortSignal.any([signal, parts.leaving]);
    let server: RequestReplyServer | null = null;
    const closing: Promise<void>[] = [];
    try {
      while (!over.aborted) {
        const isFit = await tender.tend().catch((error: unknown) => {
          parts.onTrouble(error);
          // If the state cannot be read, keep serving or not serving as before.
          return server !== null;
        });
        if (isFit) server ??= await openServer(parts, (question) => settle(question, signal));
        else if (server) {
          closing.push(server.close());
          server = null;
        }
        await pause(LOOK_EVERY_MS, over);
      }
    } finally {
      await Promise.all([...closing, server?.close()]);
    }
  };
}

async function openServer(
  { queue, askers }: AttendedParts,
  settle: (question: SettleQuestion) => Promise<SettlementResult>,
): Promise<RequestReplyServer> {
  const server = new RequestReplyServer({ ...queue, queue: SETTLE_QUEUE });
  server.addHandler(SETTLE_SIGNED_PAYMENT, (message, { questionId }: RequestReplyContext) => {
    const question = { ...parseSettleRequest(message), questionId };
    const fault = askers.findFault(message);
    return fault === null ? settle(question) : Promise.resolve(fault);
  });
  let failure: unknown = null;
  await server.listen((error) => (failure = error ?? null));
  if (failure === null) return server;
  await server.close();
  throw new Error(`The queue ${SETTLE_QUEUE} cannot be served: its Redis does not answer.`, { cause: failure });
}
