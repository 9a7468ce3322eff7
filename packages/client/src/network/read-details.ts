import { RpcRequestError, type BaseError } from 'viem';

// Shorter parts of a path are not keys: `v2`, `mainnet`.
const SHORTEST_KEY = 8;

/** The RPC server's refusal inside an error of viem; null if there is none. */
export function findRefusal(error: BaseError): RpcRequestError | null {
  const found = error.walk((cause) => cause instanceof RpcRequestError);
  return found instanceof RpcRequestError ? found : null;
}

/** The RPC server's message, without the key in its URL, because servers often repeat a key that they refuse. */
export function readDetails(error: BaseError): string {
  const details = error.details || error.shortMessage;
  const refusal = findRefusal(error);
  return refusal ? hideKey(details, refusal.url) : details;
}

function hideKey(text: string, url: string): string {
  const { pathname, searchParams } = new URL(url);
  const parts = [...pathname.split('/'), ...searchParams.values()].flatMap((part) => [part, decode(part)]);
  return parts
    .filter(({ length }) => length >= SHORTEST_KEY)
    .reduce((hidden, part) => hidden.replaceAll(part, '…'), text);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
