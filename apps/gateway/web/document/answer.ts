import { create, find } from './dom.js';

/** Longer text is offered as a file alone: it would make the page slow. */
const LONGEST_TEXT = 500_000;
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml']);
const PAGES = new Set(['text/html', 'application/xhtml+xml']);
const STREAMS = new Set(['text/event-stream', 'application/x-ndjson', 'application/jsonl']);
let urls: string[] = [];

/**
 * Shows what was bought: text as text, JSON indented, images as images, HTML in a frame without scripts and without
 * this page's origin; anything else as a file. Nothing of it becomes part of this document.
 *
 * @param framePath the path of the document that shows HTML
 */
export async function showAnswer(response: Response, framePath: string): Promise<void> {
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
  const contentType = response.headers.get('content-type') ?? '';
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const bytes = STREAMS.has(type) ? await showStream(response, body) : new Uint8Array(await response.arrayBuffer());
  if (bytes.length > 0 && PAGES.has(type)) body.append(createFrame(bytes, contentType, framePath));
  else if (!STREAMS.has(type)) body.append(render(bytes, type, response.status));
  body.append(createDownload(bytes));
}

function render(bytes: Uint8Array<ArrayBuffer>, type: string, status: number): HTMLElement {
  if (bytes.length === 0) return create('p', {}, `The answer has status ${status} and no content.`);
  if (IMAGES.has(type)) return create('img', { src: createUrl(bytes, type), alt: 'The image that you bought' });
  const isText = type.startsWith('text/') || /[/+]json$/.test(type) || /[/+]xml$/.test(type);
  if (!isText || bytes.length > LONGEST_TEXT) {
    return create('p', {}, `A file of ${bytes.length} bytes${type === '' ? '' : `, ${type}`}.`);
  }
  return createText(format(new TextDecoder().decode(bytes), type));
}

/**
 * The sold page: without scripts, forms, storage or a way to this document. The frame's own document, which the gateway
 * serves with a policy of its own, has an origin of its own, and takes the sold page by a message.
 */
function createFrame(bytes: Uint8Array<ArrayBuffer>, contentType: string, framePath: string): HTMLElement {
  const frame = create('iframe', {
    sandbox: 'allow-scripts',
    title: 'The page that you bought',
    referrerpolicy: 'no-referrer',
    src: framePath,
  });
  const [charset = ''] = /;\s*charset=[\w.:"-]+/i.exec(contentType) ?? [];
  const page = new Blob([bytes], { type: `text/html${charset}` });
  // The frame's origin is opaque, so no other can be named; what may load in it, the page's policy says.
  frame.addEventListener('load', () => frame.contentWindow?.postMessage(page, '*'), { once: true });
  return frame;
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

function createDownload(bytes: Uint8Array<ArrayBuffer>): HTMLElement {
  // Never as its own type: opened in a tab, a page would run in this page's origin.
  const href = createUrl(bytes, 'application/octet-stream');
  return create('p', {}, create('a', { href, download: 'answer' }, 'Save the answer as a file'));
}

function createUrl(bytes: Uint8Array<ArrayBuffer>, type: string): string {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  urls.push(url);
  return url;
}
