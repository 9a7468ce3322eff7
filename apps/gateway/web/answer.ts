import { create, find } from './dom.js';

/** Longer text is offered as a file alone: it would make the page slow. */
const LONGEST_TEXT = 500_000;
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml']);
const STREAMS = new Set(['text/event-stream', 'application/x-ndjson', 'application/jsonl']);
let urls: string[] = [];

/**
 * Shows what was bought: text as text, JSON indented, images as images, HTML in a frame without scripts and without
 * this page's origin; anything else as a file. Nothing of it becomes part of this document.
 */
export async function showAnswer(response: Response, fileName: string): Promise<void> {
  for (const url of urls) URL.revokeObjectURL(url);
  urls = [];
  const section = find('answer');
  section.hidden = false;
  const body = find('answer-body');
  body.replaceChildren();
  if (response.type === 'opaqueredirect') {
    body.append(create('p', {}, 'The answer is a redirect to another address, which this page does not follow.'));
    return;
  }
  const type = (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const bytes = STREAMS.has(type) ? await showStream(response, body) : new Uint8Array(await response.arrayBuffer());
  if (!STREAMS.has(type)) body.append(render(bytes, type, response.status));
  body.append(createDownload(bytes, fileName));
}

function render(bytes: Uint8Array<ArrayBuffer>, type: string, status: number): HTMLElement {
  if (bytes.length === 0) return create('p', {}, `The answer has status ${status} and no content.`);
  if (IMAGES.has(type)) return create('img', { src: createUrl(bytes, type), alt: 'The image that you bought' });
  if (type === 'text/html' || type === 'application/xhtml+xml') return createFrame(bytes);
  const isText = type.startsWith('text/') || /[/+]json$/.test(type) || /[/+]xml$/.test(type);
  if (!isText || bytes.length > LONGEST_TEXT) {
    return create('p', {}, `A file of ${bytes.length} bytes${type === '' ? '' : `, ${type}`}.`);
  }
  return createText(format(new TextDecoder().decode(bytes), type));
}

/** The sold page: in an origin of its own, without scripts, forms, storage or a way to this document. */
function createFrame(bytes: Uint8Array<ArrayBuffer>): HTMLElement {
  return create('iframe', {
    sandbox: '',
    title: 'The page that you bought',
    referrerpolicy: 'no-referrer',
    src: createUrl(bytes, 'text/html'),
  });
}

function format(text: string, type: string): string {
  if (!/[/+]json$/.test(type)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function createText(text: string): HTMLElement {
  // It scrolls, so the keyboard must reach it.
  return create('pre', { tabindex: '0', role: 'region', 'aria-label': 'The answer' }, text);
}

/** Shows events as they come. */
async function showStream(response: Response, body: HTMLElement): Promise<Uint8Array<ArrayBuffer>> {
  const shown = createText('');
  body.append(shown);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    chunks.push(part.value);
    if ((shown.textContent?.length ?? 0) < LONGEST_TEXT) shown.append(decoder.decode(part.value, { stream: true }));
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function createDownload(bytes: Uint8Array<ArrayBuffer>, fileName: string): HTMLElement {
  // Never as its own type: opened in a tab, a page would run in this page's origin.
  const href = createUrl(bytes, 'application/octet-stream');
  return create('p', {}, create('a', { href, download: fileName }, 'Save the answer as a file'));
}

function createUrl(bytes: Uint8Array<ArrayBuffer>, type: string): string {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  urls.push(url);
  return url;
}
