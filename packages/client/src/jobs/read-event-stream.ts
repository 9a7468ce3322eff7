/** One server-sent event; `id`: the position from which to continue after it. */
export interface StreamEvent {
  id: string;
  type: string;
  data: string;
}

/** The state of a stream besides its events; updated while it is read. */
export interface StreamState {
  lastId: string;
  /** The delay before reconnecting that the server asked for; null: none. */
  retryMs: number | null;
}

/** Our events have a few hundred characters; a longer unfinished one does not come from a gateway. */
const MAX_LENGTH = 1024 * 1024;

/**
 * The events of a body, parsed as the HTML standard describes server-sent events. Ends with the body; an unfinished
 * last event is dropped, together with the id before it.
 */
export async function* readEventStream(
  chunks: AsyncIterable<Uint8Array>,
  state: StreamState,
): AsyncGenerator<StreamEvent, void, undefined> {
  let block: string[] = [];
  let length = 0;
  for await (const line of readLines(chunks)) {
    length += line.length;
    if (length > MAX_LENGTH) throw new TypeError('an event is too long');
    if (line !== '') {
      block.push(line);
      continue;
    }
    const event = readBlock(block, state);
    [block, length] = [[], 0];
    if (event) yield event;
  }
}

function readBlock(lines: readonly string[], state: StreamState): StreamEvent | null {
  let type = '';
  const data: string[] = [];
  for (const line of lines) {
    const [name, value] = splitField(line);
    if (name === 'data') data.push(value);
    if (name === 'event') type = value;
    if (name === 'id' && !value.includes('\0')) state.lastId = value;
    if (name === 'retry' && /^\d{1,9}$/.test(value)) state.retryMs = Number(value);
  }
  return data.length === 0 ? null : { id: state.lastId, type: type === '' ? 'message' : type, data: data.join('\n') };
}

/** A comment is a field with an empty name. */
function splitField(line: string): [name: string, value: string] {
  const colonAt = line.indexOf(':');
  if (colonAt === -1) return [line, ''];
  return [line.slice(0, colonAt), line.slice(colonAt + 1).replace(/^ /, '')];
}

/** Lines end with \r\n, \n or \r. */
async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A \r at the end may be the first half of a \r\n, so it waits for the next chunk.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LENGTH) throw new TypeError('a line is too long');
    yield* lines;
  }
}
