import { create, createButton, find, untilTime } from './dom.js';

/** The field for the hash of a transaction that was sent without this page. @param idEnd that of its option's elements */
export function showHashField(idEnd: string, onEnter: (text: string) => void): void {
  const id = `hash${idEnd}`;
  const input = create('input', { id, autocomplete: 'off', spellcheck: 'false', placeholder: '0x…' });
  const enter = (): void => onEnter(input.value.trim());
  input.addEventListener('keydown', ({ key }) => key === 'Enter' && enter());
  find(`by-hand${idEnd}`).replaceChildren(
    create('label', { for: id }, 'The hash of the transaction that paid'),
    input,
    createButton('Get the answer', enter),
  );
}

/** Takes the calldata away when it is too late to pay with it, and says how to get another one. */
export async function expireCalldata(idEnd: string, expiresAtMs: number, advice: string): Promise<void> {
  await untilTime(expiresAtMs);
  find(`calldata${idEnd}`).replaceChildren(`This has expired. ${advice}`);
}
