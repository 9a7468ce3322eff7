import { encodeBase64Url } from '../wire/base64.js';
import { isAddress, lowerHex, type Hex } from '../wire/hex.js';
import { decodeJsonHeader } from '../wire/json-header.js';
import { isRecord, ownField, type JsonRecord } from '../wire/json-record.js';
import { PaymentError } from '../wire/payment-error.js';
import { readUint256 } from '../wire/token-amount.js';
import { CHARGE_INTENT, EVM_METHOD, PAYMENT_SCHEME } from './payment-authentication.js';

/** A challenge as a server sent it: all its parameters, since the credential repeats them. */
export type ReceivedChallenge = Readonly<Record<string, string>> & {
  readonly id: string;
  readonly realm: string;
  readonly method: string;
  readonly intent: string;
  readonly request: string;
};

/** What an EVM charge asks for. Addresses are in lower case. */
export interface ReceivedCharge {
  /** Decimal integer in base units. */
  amount: string;
  asset: Hex;
  payTo: Hex;
  chainId: number;
  /** Of the credentials that the server takes; null where it names none. */
  credentialTypes: readonly string[] | null;
}

const REQUIRED = ['id', 'realm', 'method', 'intent', 'request'] as const;
const MAX_HEADER_LENGTH = 64 * 1024;
const MAX_REQUEST_LENGTH = 16 * 1024;
/** Far more than the scheme has, and far more than a server offers. */
const MAX_PARAMETERS = 32;
const MAX_CHALLENGES = 32;

const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const EQUALS = /[ \t]*=[ \t]*/y;
const QUOTED = /"([^"\\]*(?:\\.[^"\\]*)*)"/sy;
const UNQUOTED = /[^\s,"]*/y;
const GAP = /[\s,]*/y;

function refuse(why: string): never {
  throw new PaymentError('malformed_challenge', `The payment challenge ${why}.`);
}

/**
 * The complete `Payment` challenges in a value of `WWW-Authenticate`, which may hold several, and those of other schemes.
 * What follows text that is not a list of challenges is not read.
 */
export function parsePaymentChallenges(header: string): ReceivedChallenge[] {
  if (header.length > MAX_HEADER_LENGTH) return [];
  const schemes: { name: string; parameters: [string, string][] }[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(header);
    if (match) at = pattern.lastIndex;
    return match;
  };
  let isAfterValue = false;
  for (let [gap] = take(GAP) ?? []; at < header.length; [gap] = take(GAP) ?? []) {
    const [word] = take(TOKEN) ?? [];
    const isParameter = word !== undefined && take(EQUALS) !== null;
    const isQuoted = header[at] === '"';
    const value = isParameter ? take(isQuoted ? QUOTED : UNQUOTED) : null;
    // A challenge that is malformed at its end is not complete.
    if (word === undefined || (isParameter && !value) || (isAfterValue && !gap?.includes(','))) {
      schemes.pop();
      break;
    }
    isAfterValue = isParameter;
    if (value) schemes.at(-1)?.parameters.push([word.toLowerCase(), isQuoted ? unescape(value[1] ?? '') : value[0]]);
    else schemes.push({ name: word.toLowerCase(), parameters: [] });
  }
  return schemes
    .filter(({ name }) => name === PAYMENT_SCHEME.toLowerCase())
    .slice(0, MAX_CHALLENGES)
    .flatMap(({ parameters }) => {
      const challenge: Record<string, string> = Object.fromEntries(parameters);
      // With two values of one name, server and client could disagree on what is paid.
      const isUnique = parameters.length <= MAX_PARAMETERS && Object.keys(challenge).length === parameters.length;
      return isUnique && isChallenge(challenge) ? [challenge] : [];
    });
}

/** Whether these are the parameters of a challenge. */
export function isChallenge(value: unknown): value is ReceivedChallenge {
  if (!isRecord(value) || Object.values(value).some((parameter) => typeof parameter !== 'string')) return false;
  return REQUIRED.every((name) => Boolean(ownField(value, name)));
}

/** Published servers write characters beyond Latin-1 as `\uXXXX`. */
function unescape(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_all, code: string | undefined, character: string) =>
    code === undefined ? character : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** The value of `WWW-Authenticate` for a challenge. */
export function renderPaymentChallenge(challenge: ReceivedChallenge): string {
  const parameters = Object.entries(challenge).map(([name, value]) => {
    const quoted = value
      .replace(/[\\"]/g, '\\$&')
      .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    return `${name}="${quoted}"`;
  });
  return `${PAYMENT_SCHEME} ${parameters.join(', ')}`;
}

/**
 * Reads what a challenge asks for.
 * @throws PaymentError `malformed_challenge` unless it is a charge on an EVM chain that pays one recipient
 */
export function readCharge({ method, intent, request }: ReceivedChallenge): ReceivedCharge {
  if (method !== EVM_METHOD || intent !== CHARGE_INTENT) return refuse(`is of method "${method}", intent "${intent}"`);
  const terms = decodeRequest(request);
  const details = ownField(terms, 'methodDetails');
  if (!isRecord(details)) return refuse('has no methodDetails');
  const [asset, payTo] = [ownField(terms, 'currency'), ownField(terms, 'recipient')];
  if (!isAddress(asset) || !isAddress(payTo)) return refuse('has a currency or recipient that is not an address');
  const amount = readUint256(ownField(terms, 'amount'));
  if (amount === null) return refuse('has an amount that is not a decimal integer');
  const chainId = ownField(details, 'chainId');
  if (!Number.isSafeInteger(chainId) || Number(chainId) <= 0) return refuse('has no chainId');
  const splits = ownField(details, 'splits');
  if (splits !== undefined && !(Array.isArray(splits) && splits.length === 0)) return refuse('pays several recipients');
  const types = ownField(details, 'credentialTypes');
  if (types !== undefined && !Array.isArray(types)) return refuse('has credentialTypes that are not a list');
  return {
    amount: amount.toString(),
    asset: lowerHex(asset),
    payTo: lowerHex(payTo),
    chainId: Number(chainId),
    credentialTypes: types?.filter((type) => typeof type === 'string') ?? null,
  };
}

/**
 * Decodes the `request` of a challenge.
 * @throws PaymentError `malformed_challenge`
 */
export function decodeRequest(request: string): JsonRecord {
  try {
    return decodeJsonHeader(request, MAX_REQUEST_LENGTH);
  } catch {
    return refuse('has a request that is not base64url of a JSON object');
  }
}

/** What a payer sends back. `payload` is specific to the method; `source` is the payer's DID. */
export interface SentCredential {
  challenge: ReceivedChallenge;
  payload: JsonRecord;
  source: string;
}

/** The value of `Authorization` or `Payment-Authorization`. */
export function encodePaymentCredential({ challenge, payload, source }: SentCredential): string {
  return `${PAYMENT_SCHEME} ${encodeBase64Url(JSON.stringify({ challenge, payload, source }))}`;
}
