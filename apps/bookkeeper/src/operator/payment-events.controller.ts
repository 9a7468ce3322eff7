import { Inject, Injectable, Req, Res, type BeforeApplicationShutdown } from '@nestjs/common';
import {
  findEventNumber,
  findNumberBefore,
  readEventRange,
  readNewestNumber,
  readOutgoingEvents,
  type ClaimedDatabase,
  type OutgoingEventType,
} from '@tollgate/book';
import { EventStreamResponse, openEventStream, OpenStreams, refuseRequest, type ApiKey } from '@tollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

import { BookHolder } from '../book/book-holder.js';
import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { BookChanges } from '../drain/book-changes.js';
import { OperatorKeys } from '../sessions/operator-keys.js';
import { OperatorController, Serve, type Operator } from './operator-controller.js';

const LIMITS = { heartbeatMs: 15_000, stallMs: 30_000 };
const BATCH = 200;
const LOOK_EVERY_MS = 2_000;
/** What is repeated to a client whose position a restored book does not have. */
const OVERLAP_MS = 60_000;

/** The streams of payment events: limits their number, and ends them. */
@Injectable()
export class PaymentEventStreams implements BeforeApplicationShutdown {
  readonly #open: OpenStreams<EventStreamResponse>;

  constructor(
    @Inject(BookHolder) private readonly book: BookHolder,
    @Inject(BookChanges) private readonly changes: BookChanges,
    @Inject(BookkeeperEnvironment) { events }: BookkeeperEnvironment,
    @Inject(OperatorKeys) private readonly keys: OperatorKeys,
  ) {
    this.#open = new OpenStreams({ ofKey: events.operatorStreamsPerKey, ofAll: events.operatorStreams });
  }

  /**
   * Streams events to the caller; resolves when the stream has ended.
   * @param types all when undefined
   * @throws ProblemError if a limit is reached, `lastEventId` is not a valid position, or the book is not open here
   */
  async serve(
    { id: keyId }: ApiKey,
    types: readonly OutgoingEventType[] | undefined,
    lastEventId: string | undefined,
    reply: FastifyReply,
  ): Promise<void> {
    const stream = new EventStreamResponse(LIMITS);
    this.#open.add(keyId, stream);
    const listening = this.changes.stream.subscribe(() => stream.wake());
    const timer = setInterval(() => void this.#look(stream, keyId), LOOK_EVERY_MS);
    try {
      let position = await readStart(this.book.writer.database, lastEventId);
      const response = openEventStream(reply);
      await stream.run(
        response,
        () => nameNumber(position),
        async () => {
          position = await this.#pass(stream, types, position);
        },
      );
    } catch (error) {
      if (!reply.raw.headersSent) throw error;
      // The client reconnects, and then gets the reason.
      reply.raw.destroy();
    } finally {
      clearInterval(timer);
      listening.unsubscribe();
      this.#open.remove(keyId, stream);
    }
  }

  /** Runs before the server waits for open requests: streams would keep it waiting forever. */
  beforeApplicationShutdown(): void {
    this.#open.stop();
  }

  /** Sends all events after the position, and returns the new one. */
  async #pass(
    stream: EventStreamResponse,
    types: readonly OutgoingEventType[] | undefined,
    from: number,
  ): Promise<number> {
    const { database } = this.book.writer;
    let position = from;
    const { oldest } = await readEventRange(database);
    if (oldest > position + 1) {
      await stream.write(`event: eventsMissed\ndata: ${JSON.stringify({ atMost: oldest - position - 1 })}\n\n`);
      position = oldest - 1;
    }
    for (;;) {
      const events = await readOutgoingEvents(database, position, BATCH);
      for (const { number, event } of events) {
        if (stream.isEnded) return position;
        position = number;
        if (types !== undefined && !types.includes(event.type)) continue;
        await stream.write(`id: ${nameNumber(number)}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      }
      if (events.length < BATCH) return position;
    }
  }

  /** A change may be missed, and a key be revoked. */
  async #look(stream: EventStreamResponse, keyId: string): Promise<void> {
    stream.wake();
    if (await this.keys.isRevoked(keyId)) stream.end();
  }
}

/**
 * Where a stream begins: after `Last-Event-ID`, the `id` of a stream's block or of an event that came otherwise; at the
 * next event without one.
 * @throws ProblemError for any other value
 */
async function readStart(database: ClaimedDatabase, lastEventId: string | undefined): Promise<number> {
  const newest = await readNewestNumber(database);
  if (lastEventId === undefined || lastEventId === '') return newest;
  const [, digits] = /^e-(\d{1,15})$/.exec(lastEventId) ?? [];
  const number = digits === undefined ? await findEventNumber(database, lastEventId) : Number(digits);
  if (number === null) throw refuseRequest(['Last-Event-ID must be the id of an event, or must be left out.']);
  // The book has lost this event, and got no other since: what is restored from a copy goes on with higher numbers.
  return number > newest ? findNumberBefore(database, OVERLAP_MS) : number;
}

function nameNumber(number: number): string {
  return `e-${number}`;
}

@OperatorController()
export class PaymentEventsController {
  constructor(@Inject(PaymentEventStreams) private readonly streams: PaymentEventStreams) {}

  @Serve('GET /operator/events')
  async stream(
    { caller, query: { type } }: Operator<'GET /operator/events'>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (request.method === 'HEAD') {
      void reply.type('text/event-stream; charset=utf-8').send();
      return;
    }
    await this.streams.serve(caller, type, request.raw.headers['last-event-id'] as string | undefined, reply);
  }
}
