import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { instructsSharedCaches } from '@tollgate/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { dropConditions, isForSale } from './adapters/conditions.js';
import type { Answer } from './answer/answer.js';
import type { PaidRequest, PaymentGate } from './gate/gate.js';
import type { Offer } from './offer/challenge.js';

/** The hooks of a paid route. */
export interface PaidRouteHooks {
  onRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
  onSend: (request: FastifyRequest, reply: FastifyReply, payload: unknown) => Promise<unknown>;
  onResponse: (request: FastifyRequest) => Promise<void>;
}

/** Options of a paid route: `app.get('/weather', paid(gate, { price: '0.001' }), handler)`. */
export function paid(gate: PaymentGate, offer: Offer): PaidRouteHooks {
  const sale = gate.sell(offer);
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  return {
    async onRequest(request, reply) {
      const { method, protocol, host, headers } = request;
      const admission = await sale.admit({
        method,
        url: `${protocol}://${host}${request.url}`,
        header: (name) => headers[name.toLowerCase()] as string | undefined,
      });
      if ('answer' in admission)
        return addHeaders(reply, admission.answer.headers)
          .code(admission.answer.status)
          .send(toPayload(admission.answer));
      // The client disconnected while its payment was verified: the handler does not run, and the client may retry.
      // `onResponse` has already been called.
      if (reply.raw.destroyed) {
        await admission.paid.end();
        return reply.hijack();
      }
      // `onResponse` is not called for a client that disconnects before the first byte is written.
      reply.raw.once('close', () => void admission.paid.end());
      const restore = dropConditions(method, request.raw.headers);
      admitted.set(request, { paid: admission.paid, headersBefore: { ...reply.getHeaders() }, restore });
      return undefined;
    },
    async onSend(request, reply, payload) {
      const sold = admitted.get(request);
      if (sold === undefined) return payload;
      sold.restore();
      const inner = isResponse(payload) ? unwrap(reply, payload) : payload;
      // Nothing is settled for an error response, or if the client has disconnected.
      if (!isForSale(reply.statusCode) || reply.raw.destroyed) {
        const retryAfter = reply.getHeader('retry-after');
        const told = await sold.paid.decline(reply.statusCode, retryAfter === undefined ? null : String(retryAfter));
        if (Object.keys(told).length > 0) addHeaders(reply, told);
        return inner;
      }
      const body = await hold(inner);
      const answer = { status: reply.statusCode, headers: reply.getHeaders(), body };
      const settlement = await sold.paid.settle(answer, () => reply.raw.destroyed);
      if ('answer' in settlement) return replace(reply, sold.headersBefore, settlement.answer);
      addHeaders(reply, settlement.headers);
      return body;
    },
    async onResponse(request) {
      await admitted.get(request)?.paid.end();
    },
  };
}

interface Admitted {
  readonly paid: PaidRequest;
  readonly headersBefore: ReturnType<FastifyReply['getHeaders']>;
  readonly restore: () => void;
}

/** Whether the payload is a `Response` of any realm; Fastify uses the same check. */
function isResponse(payload: unknown): payload is Response {
  return Object.prototype.toString.call(payload) === '[object Response]';
}

/** Takes status and headers from the `Response` now: Fastify would do so only after the hooks. */
function unwrap(reply: FastifyReply, { status, headers, body }: Response): unknown {
  reply.code(status);
  // Set one by one, since each cookie is a header of its own.
  for (const [name, value] of headers) reply.header(name, value);
  return body;
}

/** Reads a stream to its end: none of it may be sent before the payment is settled. */
async function hold(payload: unknown): Promise<string | Buffer | null> {
  if (payload instanceof ReadableStream) return buffer(payload);
  if (typeof payload === 'object' && payload !== null && 'pipe' in payload) return buffer(payload as Readable);
  return (payload ?? null) as string | Buffer | null;
}

/** Converts bytes to a Buffer: Fastify would serialise other byte arrays as JSON. */
function toPayload({ body }: Answer): string | Buffer {
  return typeof body === 'string' ? body : Buffer.from(body);
}

function replace(reply: FastifyReply, headersBefore: Admitted['headersBefore'], answer: Answer): string | Buffer {
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
  addHeaders(reply.code(answer.status).headers(headersBefore), answer.headers);
  return toPayload(answer);
}

/** Also drops the headers by which a shared cache would store the response all the same. */
function addHeaders(reply: FastifyReply, headers: Answer['headers']): FastifyReply {
  for (const name of Object.keys(reply.getHeaders()).filter(instructsSharedCaches)) reply.removeHeader(name);
  return reply.headers(headers);
}
