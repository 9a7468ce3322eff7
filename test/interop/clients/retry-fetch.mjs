import { setTimeout as sleep } from 'node:timers/promises';

const TRIES = 200;

/** The `fetch` of a careful caller: it repeats a request, unchanged, that got 409, 503 or no answer. */
export async function retryFetch(input, init) {
  const request = new Request(input, init);
  for (let tries = 1; ; tries++) {
    const response = await fetch(request.clone()).catch((error) => {
      if (tries === TRIES) throw error;
      return null;
    });
    if (response && ![409, 503].includes(response.status)) return response;
    if (response && tries === TRIES) return response;
    await sleep(Math.min(Number(response?.headers.get('Retry-After') ?? 0) * 1000, 1000) || 100);
  }
}
