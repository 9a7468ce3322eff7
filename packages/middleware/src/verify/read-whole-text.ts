/**
 * Reads the whole body. Passing the signal to fetch is not enough: on Node 20 a garbage collection can break the link
 * between the two, and a server that stops sending would be awaited forever.
 */
export async function readWholeText(response: Response, signal: AbortSignal): Promise<string> {
  let text = '';
  if (!response.body) return text;
  for await (const part of response.body.pipeThrough(new TextDecoderStream(), { signal })) text += part;
  return text;
}
