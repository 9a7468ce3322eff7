import { waitFor } from '../../harness/retry.js';
import { SCHEMES, type Product } from '../matrix.js';
import { readRequired } from './alter-messages.js';

/** Metered offers are made only while a relayer is known, which takes a moment after its verifier was killed. */
export async function awaitOffer(url: string, product: Product): Promise<void> {
  if (product !== 'metered') return;
  await waitFor('the relayer is named', async () => {
    const required = readRequired(await fetch(url));
    return required.accepts.some(({ scheme }) => scheme === SCHEMES.metered.scheme);
  });
}
