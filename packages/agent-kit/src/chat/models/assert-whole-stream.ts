type StreamFault = 'cut' | 'unreadable' | 'failed';

/** A model's answer that began and did not reach its end. */
export class ModelStreamError extends Error {
  /**
   * @param fault `cut`: the connection ended first. `unreadable`: the data is no event of the API. `failed`: the
   * provider itself reported a failure in the middle.
   * @param text the received data, if it is informative; it is the provider's, and untrusted.
   */
  constructor(
    readonly fault: StreamFault,
    readonly text = '',
  ) {
    super(`the model's stream is broken: ${fault}`);
    this.name = 'ModelStreamError';
  }
}

const MAX_QUOTED = 200;

/**
 * Makes an incomplete streamed answer fail. The model clients take an early close of the connection for the end,
 * complete the half-sent JSON of a tool call by guessing, and would have the call carried out.
 * @param onEvent gets each event of the answer, before the client does
 */
export function assertWholeStream(
  fetch: typeof globalThis.fetch,
  onEvent: (event: ModelEvent) => void = () => undefined,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok || !response.body || !isStreamWanted(init?.body)) return response;
    return new Response(watch(response.body, new EventReader(onEvent), init?.signal ?? null), response);
  };
}

function isStreamWanted(body: unknown): boolean {
  return typeof body === 'string' && (JSON.parse(body) as { stream?: unknown }).stream === true;
}

/** Passes the bytes on; fails where the stream breaks off or is not in an API's format. */
function watch(
  body: ReadableStream<Uint8Array>,
  events: EventReader,
  signal: AbortSignal | null,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (done) events.finish();
        else events.take(value);
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        if (error instanceof ModelStreamError) {
          controller.error(error);
          await reader.cancel();
        } else if (events.hasEnded) controller.close();
        // An abort by us is not a broken stream.
        else controller.error(signal?.aborted ? error : new ModelStreamError('cut'));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Follows the server-sent events far enough to see their end. */
class EventReader {
  readonly #decoder = new TextDecoder();
  #line = '';
  #data: string[] = [];
  #isEmpty = true;
  /** The first line that belongs to no event. */
  #foreign = '';
  hasEnded = false;

  constructor(private readonly onEvent: (event: ModelEvent) => void) {}

  /** @throws ModelStreamError */
  take(bytes: Uint8Array): void {
    const lines = (this.#line + this.#decoder.decode(bytes, { stream: true })).split(/\r?\n/);
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#takeLine(line);
  }

  /** @throws ModelStreamError unless the model reported that its answer is complete */
  finish(): void {
    if (this.hasEnded) return;
    const text = this.#foreign || this.#line;
    const isForeign = this.#isEmpty && text !== '' && !text.startsWith('data:');
    throw isForeign ? new ModelStreamError('unreadable', text.slice(0, MAX_QUOTED)) : new ModelStreamError('cut');
  }

  #takeLine(line: string): void {
    const [, field, value = ''] = /^(data|event|id|retry|)(?::|$) ?(.*)$/.exec(line) ?? [];
    if (field === 'data') this.#data.push(value);
    // Unknown fields are to be ignored; a line that is no field at all is remembered.
    else if (field === undefined) this.#foreign ||= line;
    if (line !== '' || this.#data.length === 0) return;
    this.#takeEvent(this.#data.join('\n'));
    this.#data = [];
  }

  #takeEvent(data: string): void {
    this.#isEmpty = false;
    const event: ModelEvent = data === '[DONE]' ? { type: 'message_stop' } : parse(data);
    if (event.error) throw new ModelStreamError('failed', readMessage(event.error));
    this.onEvent(event);
    if (event.type === 'message_stop') this.hasEnded = true;
    if (event.choices?.some((choice) => Boolean(choice.finish_reason))) this.hasEnded = true;
  }
}

/** The fields that are read from an event, of either API. */
interface ModelEvent {
  type?: unknown;
  error?: unknown;
  choices?: { finish_reason?: unknown }[];
}

function parse(data: string): ModelEvent {
  try {
    const event = JSON.parse(data) as unknown;
    if (typeof event === 'object' && event !== null) return event;
  } catch {
    // Reported below, as for JSON that is not an object.
  }
  throw new ModelStreamError('unreadable', data.slice(0, MAX_QUOTED));
}

function readMessage(error: unknown): string {
  const { message } = error as { message?: unknown };
  return typeof message === 'string' ? message : JSON.stringify(error);
}
