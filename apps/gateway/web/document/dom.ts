/** An element of the page's own document, which always has it. */
export function find<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no element "${id}".`);
  return element as T;
}

type Child = Node | string;

/** Creates an element. Text is only ever set as text, so that nothing from outside becomes markup. */
export function create<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function createButton(text: string, onClick: () => void, className = ''): HTMLButtonElement {
  const button = create('button', { type: 'button', ...(className === '' ? {} : { class: className }) }, text);
  button.addEventListener('click', onClick);
  return button;
}

/** Says what is happening, also to screen readers. `tone` adds a colour, never the only sign. */
export function showStatus(text: string, tone: 'busy' | 'good' | 'bad' | 'plain' = 'plain'): void {
  const status = find('status');
  status.textContent = text;
  status.dataset['tone'] = tone;
}

/** A link to a transaction in the explorer, or its hash where there is none. */
export function linkTransaction(explorerUrl: string | null, txHash: string): HTMLElement {
  const hash = create('code', {}, txHash);
  if (explorerUrl === null || !/^https?:\/\//.test(explorerUrl)) return hash;
  const url = `${explorerUrl}/tx/${encodeURIComponent(txHash)}`;
  return create('a', { href: url, rel: 'noreferrer noopener', target: '_blank' }, hash);
}

const LOOK_MS = 1000;

/** Resolves at this time of the clock. Not by one long timer, which would stand still while the device sleeps. */
export async function untilTime(atMs: number): Promise<void> {
  while (Date.now() <= atMs) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
