import type { OutgoingEvent } from '@tollgate/book';

export interface ReadEventStream {
  events: OutgoingEvent[];
  lastEventId: () => string;
  close: () => void;
}

/** Opens a stream of payment events, and collects what it sends. */
export async function readEventStream(url: string, token: string, lastEventId?: string): Promise<ReadEventStream> {
  const closing = new AbortController();
  const response = await fetch(url, {
    headers: { Authorization: `Bearer ${token}`, ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) },
    signal: closing.signal,
  });
  if (response.status !== 200 || response.body === null) throw new Error(`no stream: ${await response.text()}`);
  const events: OutgoingEvent[] = [];
  let last = '';
  const read = async (body: ReadableStream<Uint8Array>): Promise<void> => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        last = /^id: (.*)$/m.exec(block)?.[1] ?? last;
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data !== undefined) events.push(JSON.parse(data) as OutgoingEvent);
      }
    }
  };
  read(response.body).catch(() => undefined);
  return { events, lastEventId: () => last, close: () => closing.abort() };
}
