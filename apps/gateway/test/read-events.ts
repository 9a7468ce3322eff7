import type { AgentJobEvent } from '@tollgate/protocol';

/** A block of an event stream: its fields by name; a comment has the empty name. */
export type EventBlock = Readonly<Partial<Record<'id' | 'event' | 'data' | 'retry' | '', string>>>;

/** An open event stream, read block by block as a client would. */
export class EventReader {
  readonly #chunks: AsyncIterator<string>;
  #rest = '';
  /** The last received id, as a client stores it for `Last-Event-ID`. */
  lastEventId = '';
  /** The first block of the stream. */
  first: EventBlock = {};

  constructor(
    readonly response: Response,
    private readonly stop: AbortController,
  ) {
    if (response.body === null) throw new Error('the answer has no body');
    const decoder = new TextDecoder();
    const chunks = response.body.getReader();
    this.#chunks = {
      next: async () => {
        const part = await chunks.read();
        return part.done
          ? { done: true, value: '' }
          : { value: decoder.decode(part.value as Uint8Array, { stream: true }) };
      },
    };
  }

  /** Null once the server has ended the stream. */
  async readBlock(): Promise<EventBlock | null> {
    for (;;) {
      const end = this.#rest.indexOf('\n\n');
      if (end !== -1) {
        const block = parseBlock(this.#rest.slice(0, end));
        this.#rest = this.#rest.slice(end + 2);
        this.lastEventId = block.id ?? this.lastEventId;
        return block;
      }
      const part = await this.#chunks.next();
      if (part.done === true) return null;
      this.#rest += part.value;
    }
  }

  /** The next events, skipping other blocks. */
  async readEvents(count: number): Promise<AgentJobEvent[]> {
    const events: AgentJobEvent[] = [];
    while (events.length < count) {
      const block = await this.readBlock();
      if (block === null) throw new Error(`the stream ended after ${events.length} of ${count} events`);
      if (block.data !== undefined) events.push(JSON.parse(block.data) as AgentJobEvent);
    }
    return events;
  }

  /** Resolves when the server has ended the stream. */
  async readToEnd(): Promise<void> {
    while ((await this.readBlock()) !== null);
  }

  close(): void {
    this.stop.abort();
  }
}

/** Opens a stream and waits for its first block. */
export async function openEvents(url: string, token: string, lastEventId?: string): Promise<EventReader> {
  const stop = new AbortController();
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
  };
  const response = await fetch(url, { headers, signal: stop.signal });
  if (response.status !== 200) throw new Error(`answered ${response.status}: ${await response.text()}`);
  const reader = new EventReader(response, stop);
  reader.first = (await reader.readBlock()) ?? {};
  return reader;
}

function parseBlock(text: string): EventBlock {
  const lines = text.split('\n').map((line) => /^(\w*): (.*)$/.exec(line) ?? []);
  return Object.fromEntries(lines.map(([, name = '?', value]) => [name, value]));
}
