import { isUtf8 } from 'node:buffer';

import {
  formatTokenAmount,
  IDEMPOTENT_REPLAYED,
  isBaseUnits,
  nonceOf,
  ownField,
  PAYMENT_RECEIPT,
  PAYMENT_RESPONSE,
  PaymentError,
  X_PAYMENT_RELEASED,
  X_PAYMENT_RESPONSE,
  type PaymentErrorCode,
} from '@tollgate/protocol';
import { InvalidArgumentError, type Command } from 'commander';

import { createWallet } from '../account/create-wallet.js';
import type { Wallet } from '../account/wallet.js';
import { fetchWithPayment } from '../fetch/fetch-with-payment.js';
import { findMissingAllowance } from '../methods/registry.js';
import { readJsonHeader } from '../network/read-body.js';
import { requestKey, takeRequest } from '../network/request-snapshot.js';
import type { SkippedOffer } from '../offer/judge-offers.js';
import { isInAsset } from '../offer/trusted-asset.js';
import type { PaymentEvent } from '../sign/payment-options.js';
import { abandonPayment, endsAtMs, type PaymentStore, type StoredPayment } from '../store/payment-store.js';
import { HeldPaymentStore } from './held-payment-store.js';
import { readArguments, type PayArguments, type PayOptions } from './read-arguments.js';

export interface PayTerminal {
  /** Whether a person sees stdout: a body without a line break at its end would run into the next prompt. */
  showsStdout: boolean;
  stdout: (bytes: Uint8Array | string) => Promise<void>;
  stderr: (line: string) => void;
}

const LINE_BREAK = 0x0a;
/**
 * Removed from the server's names and reasons, so that none draws on the terminal, or begins a line that looks like
 * ours.
 */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const MAX_RECEIPT_BYTES = 64 * 1024;

/** Hints of the library that name an option of its API, in terms of this command's options. */
const HINTS: Partial<Record<PaymentErrorCode, string>> = {
  over_limit: 'Raise --max if the price is right.',
  no_trusted_requirement: 'Compare what it offers with --network, --chain-id, --asset, --pay-to and --also.',
  wallet_unavailable: 'Check that the RPC server is up and --rpc is right; --rpc-timeout waits longer.',
  insecure_url: 'Use https, or give --insecure on a network you trust.',
};

function hintAllowance(code: PaymentErrorCode): string | undefined {
  const missing = findMissingAllowance(code);
  return missing && `Approve ${missing.title} for the token, or pass --approve AMOUNT to do so here.`;
}

/** The payment's name in messages. */
function nameOf({ transaction, authorization }: StoredPayment): string {
  return transaction?.txHash ?? `authorization ${authorization ? nonceOf(authorization) : 'that is not signed yet'}`;
}

function describeIntention({ scheme, asset, payTo, extra }: StoredPayment['requirement'], price: string): string {
  return `Paying ${scheme === 'upto' ? 'at most ' : ''}${price} ${extra.name ?? asset} to ${payTo}.`;
}

function describeSkipped({ requirement: { scheme }, problem }: SkippedOffer): string {
  const consequence = scheme === 'upto' ? 'the full price is paid, not what is used' : 'the next offer is paid';
  const missing = findMissingAllowance(problem.code);
  const remedy = missing ? `; --approve AMOUNT lets ${missing.title} move it` : '';
  return `${problem.message} So ${consequence}${remedy}.`;
}

const plain = (line: string): string => line.replace(CONTROLS, ' ');

/** Null for the end of a payment, whose answer is still to be written, and where nothing new is said. */
function describe(event: PaymentEvent): string | null {
  switch (event.type) {
    case 'resuming':
      return `Found the payment ${nameOf(event.payment)} for this request; paying nothing.`;
    case 'skipped':
      return describeSkipped(event);
    case 'intended':
      return describeIntention(event.payment.requirement, event.price);
    case 'signed':
      return `Signed ${nameOf(event.payment)} and stored it.`;
    case 'mined':
      return 'The payment is mined.';
    case 'waiting':
      return `Trying again in ${event.delayMs} ms: ${event.reason}.`;
    case 'sent':
    case 'redeemed':
      return null;
  }
}

/** The moved amount that the server reports, in units of the token; null where it reports none, as in version 1. */
function readAmountTaken(headers: Headers, decimals: number): string | null {
  const amount = ownField(readJsonHeader(headers.get(PAYMENT_RESPONSE), MAX_RECEIPT_BYTES), 'amount');
  return isBaseUnits(amount) ? formatTokenAmount(BigInt(amount), decimals) : null;
}

async function payFor(input: PayArguments, terminal: PayTerminal, onSigned: () => unknown): Promise<number> {
  let payment = null as StoredPayment | null;
  const wallets = input.wallets.map(createWallet);
  const store = new HeldPaymentStore(openStore(input, wallets));
  // Free resources are answered too; a caller that requires a price uses the library's `payForResource`.
  const payingFetch = fetchWithPayment(fetch, wallets, {
    ...input.options,
    store,
    onEvent: (event) => {
      if (event.type === 'signed' || event.type === 'resuming') {
        payment = event.payment;
        onSigned();
      }
      const line = describe(event);
      if (line !== null) terminal.stderr(plain(line));
    },
  });
  const response = await payingFetch(input.url, input.init);
  const taken = payment && readAmountTaken(response.headers, decimalsOf(payment, input));
  if (taken !== null) terminal.stderr(`The server reports a charge of ${taken}.`);
  if (payment !== null) terminal.stderr(`Answered: status ${response.status}.`);
  if (input.writesJson) await terminal.stdout(await createDocument(response, payment && nameOf(payment), taken));
  else await writeBody(response, terminal);
  await store.release();
  const isFailure = response.status >= 400;
  if (payment === null) {
    const answer = isFailure ? `The answer has status ${response.status}` : 'The server asked for no payment';
    terminal.stderr(`${answer}: nothing was paid.`);
    return isFailure ? 3 : 0;
  }
  if (!isFailure) return 0;
  terminal.stderr(`The answer has status ${response.status}. ${explainPayment(payment, response.headers)}`);
  return 5;
}

async function writeBody(response: Response, terminal: PayTerminal): Promise<void> {
  let lastByte = LINE_BREAK;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    await terminal.stdout(chunk);
    lastByte = chunk.at(-1) ?? lastByte;
  }
  if (terminal.showsStdout && lastByte !== LINE_BREAK) await terminal.stdout('\n');
}

/** Payments of all chains are in the store of the first. */
function openStore(input: PayArguments, [first]: readonly Wallet[]): PaymentStore {
  if (first === undefined) throw new TypeError('there is a wallet for each chain, and the first is always there');
  return input.openStore(first);
}

/** 0 where the payment is in an asset that this run was not told of: then base units are shown. */
function decimalsOf({ requirement }: StoredPayment, { options }: PayArguments): number {
  return options.assets.find((asset) => isInAsset(asset, requirement))?.decimals ?? 0;
}

/** The answer as one JSON document: its body is text, or base64 where it is no UTF-8. */
async function createDocument(response: Response, payment: string | null, taken: string | null): Promise<string> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const document = {
    status: response.status,
    contentType: response.headers.get('content-type'),
    payment,
    taken,
    ...(isUtf8(bytes) ? { body: bytes.toString() } : { bodyBase64: bytes.toString('base64') }),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

async function abandon(input: PayArguments, terminal: PayTerminal): Promise<number> {
  const key = requestKey(await takeRequest(input.url, input.init));
  const isAbandoned = await abandonPayment(openStore(input, input.wallets.map(createWallet)), key);
  terminal.stderr(isAbandoned ? 'The payment is given up.' : 'No open payment is stored for this request.');
  return 0;
}

interface PayContext {
  command: Command;
  env: NodeJS.ProcessEnv;
  terminal: PayTerminal;
}

/** Pays for one request; resolves with the exit code, as the help of the command lists them. */
export async function payOnce(
  url: string,
  options: PayOptions,
  { command, env, terminal }: PayContext,
): Promise<number> {
  let isSigned = false;
  try {
    const input = readArguments(url, options, env);
    if (input.isAbandoning) return await abandon(input, terminal);
    return await payFor(input, terminal, () => (isSigned = true));
  } catch (error) {
    if (error instanceof InvalidArgumentError) command.error(error.message);
    const message = error instanceof Error ? error.message : String(error);
    if (!(error instanceof PaymentError)) {
      terminal.stderr(
        plain(error instanceof Error && error.cause instanceof Error ? `${message}: ${error.cause.message}` : message),
      );
      return isSigned ? 4 : 1;
    }
    terminal.stderr(plain(`${message} [${error.code}]`));
    const hint = HINTS[error.code] ?? hintAllowance(error.code) ?? error.hint;
    if (hint !== undefined) terminal.stderr(hint);
    // A person would look at the chain for the outcome, and here it does not answer.
    if (error.code === 'wallet_unavailable' && !isSigned) terminal.stderr('Nothing was paid.');
    return isSigned && error.code !== 'transaction_failed' ? 4 : 3;
  }
}

/** The state of a payment whose request got a status of 400 or more, as far as the server reports it. */
function explainPayment({ transaction, authorization }: StoredPayment, headers: Headers): string {
  if (headers.get(IDEMPOTENT_REPLAYED) === 'true') {
    return 'It is the answer that the payment has bought: the payment is spent.';
  }
  if (headers.get(X_PAYMENT_RELEASED) === 'true') {
    if (transaction) {
      return `The payment is not spent: the transfer ${transaction.txHash} remains valid, and the same command, or one that corrects its query or body, presents it again and pays nothing more.`;
    }
    const validBefore = new Date(authorization ? endsAtMs(authorization) : 0).toISOString();
    return `The payment is not spent: the same command, or one that corrects its query or body, presents the same authorization again, and signs no other one before ${validBefore}.`;
  }
  // Servers that settle a signed payment report it in a header, with any status.
  const receipt = readJsonHeader(headers.get(PAYMENT_RESPONSE) ?? headers.get(X_PAYMENT_RESPONSE), MAX_RECEIPT_BYTES);
  if (receipt['success'] === true || headers.has(PAYMENT_RECEIPT))
    return 'The payment was settled nevertheless: the same command presents it again, and pays nothing more.';
  return 'The server does not say whether the payment was settled: the same command presents it again, and pays nothing more.';
}
