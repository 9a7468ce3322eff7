/** One event of a stream of server-sent events; `id`: where to go on after it. */
export interface StreamEvent {
  id: string;
  type: string;
  data: string;
}

/** What a stream says besides its events; kept up to date while it is read. */
export interface StreamState {
  lastId: string;
  /** How long the server wants to be left alone before the next connection; null: it did not say. */
  retryMs: number | null;
}

/** An event of ours has some hundred characters; whoever sends more without an end of it is no gateway. */
const MAX_LENGTH = 1024 * 1024;

/**
 * The events of a body, as the HTML standard describes server-sent events. Ends with the body; an event that its end cuts
 * off is dropped, and so is the id that stood before it.
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

/** A comment is a field without a name. */
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
    // A \r at the end may be half of a \r\n, so it waits for what follows.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LENGTH) throw new TypeError('a line is too long');
    yield* lines;
  }
}
