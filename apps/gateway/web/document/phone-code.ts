import { isHash, type Hex } from '@tollgate/protocol';
import { correction, generate } from 'lean-qr/nano';

import { create, find } from './dom.js';

/** A QR code of the URL, black on white whatever the colours of the page: cameras need it. */
function drawCode(url: string): HTMLElement {
  const canvas = create('canvas', { role: 'img', 'aria-label': 'QR code of the page that pays from your phone' });
  const code = generate(url, { minCorrectionLevel: correction.L });
  code.toCanvas(canvas, { on: [0, 0, 0, 255], off: [255, 255, 255, 255] });
  return canvas;
}

/** The names of this machine, which on every other machine are its own. */
const LOOPBACK = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)$/;

/** Shows the code of a ticket, and its address. */
export function showCode(url: string): void {
  const { hostname } = location;
  const unreached = `Your phone cannot reach ${hostname}: there, that is the phone itself. Open this page by an address that your phone can open too.`;
  const how =
    'Scan the code with your phone and pay there. The answer appears here. The code can pay, and nothing else.';
  find('code').replaceChildren(
    ...(LOOPBACK.test(hostname) ? [create('p', { class: 'bad' }, unreached)] : []),
    create('p', {}, how),
    drawCode(url),
    create('p', { class: 'hint' }, 'Or open this address there: ', create('code', {}, url)),
  );
}

/** The transactions that a phone has reported for this reference. They are claims: only redeeming tells. */
export async function readReportedHashes(base: string, reference: string): Promise<Hex[]> {
  try {
    const response = await fetch(`${base}/pay`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ reference }),
      cache: 'no-store',
      credentials: 'omit',
    });
    if (!response.ok) return [];
    const { txHashes } = (await response.json()) as { txHashes?: unknown };
    return Array.isArray(txHashes) ? txHashes.filter(isHash) : [];
  } catch {
    return [];
  }
}
