import { instructsSharedCaches } from '@tollgate/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { dropConditions, isForSale } from './adapters/conditions.js';
import { holdResponse, type Hold } from './adapters/hold-response.js';
import { continueStream, holdStream } from './adapters/hold-stream.js';
import { settleHeld } from './adapters/settle-held.js';
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
        isGone: () => reply.raw.destroyed,
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
      const { paid: paidRequest } = admission;
      // What a handler writes to `reply.raw`, and what Fastify itself writes after a failure in its hooks.
      const hold = holdResponse(request.raw, reply.raw, {
        maxBytes: paidRequest.maxHeldBytes,
        decide: (held) => {
          restore();
          return settleHeld(reply.raw, paidRequest, held);
        },
      });
      admitted.set(request, { paid: paidRequest, headersBefore: { ...reply.getHeaders() }, restore, hold });
      return undefined;
    },
    async onSend(request, reply, payload) {
      const sold = admitted.get(request);
      if (sold === undefined || sold.hold.isBegun()) return payload;
      sold.restore();
      const inner = isResponse(payload) ? unwrap(reply, payload) : payload;
      // Nothing is settled for an error response, or if the client has disconnected.
      if (!isForSale(reply.statusCode) || reply.raw.destroyed) {
        const retryAfter = reply.getHeader('retry-after');
        const told = await sold.paid.decline(reply.statusCode, retryAfter === undefined ? null : String(retryAfter));
        if (Object.keys(told).length > 0) addHeaders(reply, told);
        sold.hold.lift();
        return inner;
      }
      const source = iterate(inner);
      const stream = source && (await holdStream(source, sold.paid.maxHeldBytes));
      const body = stream ? Buffer.from(stream.bytes) : ((inner ?? null) as string | Buffer | null);
      const isOpen = stream?.isOpen === true;
      const answer = { status: reply.statusCode, headers: reply.getHeaders(), body, isOpen };
      const settlement = await sold.paid.settle(answer, () => reply.raw.destroyed);
      sold.hold.lift();
      if ('answer' in settlement) {
        if (isOpen) await source?.return?.();
        return replace(reply, sold.headersBefore, settlement.answer);
      }
      addHeaders(reply, settlement.headers);
      return source !== null && stream?.isOpen === true ? continueStream(stream.bytes, source) : body;
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
  readonly hold: Hold;
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

/** None of a stream may be sent before the payment is settled; null for what is there as a whole. */
function iterate(payload: unknown): AsyncIterator<unknown> | null {
  const isStream =
    payload instanceof ReadableStream || (typeof payload === 'object' && payload !== null && 'pipe' in payload);
  return isStream ? (payload as AsyncIterable<unknown>)[Symbol.asyncIterator]() : null;
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
