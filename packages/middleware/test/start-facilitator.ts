import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import type { SettleResponse, VerifyResponse } from '@tollgate/protocol';

import type { FacilitatorQuestion } from '../src/verify/facilitator.js';

export interface AskedQuestion extends FacilitatorQuestion {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** A response of the facilitator: a body, a status other than 200, or a closed connection. */
export type Script<T> = (question: AskedQuestion) => T | number | 'hang up' | Promise<T | number | 'hang up'>;

/** A facilitator whose responses the test defines. */
export interface ScriptedFacilitator {
  readonly url: string;
  readonly asked: AskedQuestion[];
  verify: Script<VerifyResponse>;
  settle: Script<SettleResponse>;
  /** Whether it returns the idempotency key, as a Tollgate gateway does. */
  knowsKeys: boolean;
  stop(): Promise<void>;
}

export const PAYER = '0x1111111111111111111111111111111111111111';
export const TRANSACTION = `0x${'ab'.repeat(32)}`;

export async function startFacilitator(): Promise<ScriptedFacilitator> {
  const asked: AskedQuestion[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const path = request.url ?? '';
      const question = { path, headers: request.headers, ...(JSON.parse(await text(request)) as FacilitatorQuestion) };
      asked.push(question);
      const answer = await (path === '/verify' ? facilitator.verify(question) : facilitator.settle(question));
      if (answer === 'hang up') return request.socket.destroy();
      response.statusCode = typeof answer === 'number' ? answer : 200;
      const { 'idempotency-key': key, authorization } = request.headers;
      if (facilitator.knowsKeys && key !== undefined) response.setHeader('Idempotency-Key', key);
      return response.end(JSON.stringify(typeof answer === 'number' ? { detail: `not for ${authorization}` } : answer));
    })();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const facilitator: ScriptedFacilitator = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    verify: isValid,
    settle: succeed,
    knowsKeys: false,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return facilitator;
}

export const isValid = (): VerifyResponse => ({ isValid: true, payer: PAYER });

export const succeed = ({ paymentRequirements: { network } }: AskedQuestion): SettleResponse => ({
  success: true,
  payer: PAYER,
  transaction: TRANSACTION,
  network,
});

export const fail =
  (errorReason: string, transaction = '') =>
  ({ paymentRequirements: { network } }: AskedQuestion): SettleResponse => ({
    success: false,
    errorReason,
    transaction,
    network,
  });
