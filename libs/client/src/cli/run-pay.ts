import { PaymentError, type PaymentErrorCode } from '@tollgate/protocol';

import { FilePaymentStore } from '../file-payment-store.js';
import { payForResource } from '../pay-for-resource.js';
import type { PaymentEvent } from '../payment-options.js';
import { abandonPayment } from '../payment-store.js';
import { requestKey, takeRequest } from '../request-snapshot.js';
import { createWallet } from '../wallet.js';
import { readArguments, USAGE, UsageError, type PayArguments } from './read-arguments.js';

export interface Terminal {
  /** Whether a person sees stdout: a body without a line break at its end would run into the next prompt. */
  showsStdout: boolean;
  stdout: (bytes: Uint8Array | string) => Promise<void>;
  stderr: (line: string) => void;
}

const LINE_BREAK = 0x0a;

/** Where the library's hint names an option of its own, the one that is typed here. */
const HINTS: Partial<Record<PaymentErrorCode, string>> = {
  over_limit: 'Raise --max if the price is right.',
  no_trusted_requirement: 'Compare what it offers with --network, --chain-id, --asset and --pay-to.',
  insecure_url: 'Use https, or give --insecure on a network you trust.',
};

function describe(event: PaymentEvent): string {
  switch (event.type) {
    case 'resuming':
      return `Found the payment ${event.payment.transaction?.txHash} for this request; paying nothing.`;
    case 'intended':
      return `Paying ${event.price} ${event.payment.requirement.extra.name} to ${event.payment.requirement.payTo}.`;
    case 'signed':
      return `Signed ${event.payment.transaction?.txHash} and stored it.`;
    case 'mined':
      return 'The payment is mined.';
    case 'waiting':
      return `Trying again in ${event.delayMs} ms: ${event.reason}.`;
    case 'redeemed':
      return `Redeemed: status ${event.status}.`;
  }
}

async function pay(input: PayArguments, terminal: Terminal, onSigned: () => void): Promise<number> {
  const response = await payForResource(
    input.url,
    createWallet({ account: input.privateKey, rpcUrl: input.rpcUrl, chainId: input.asset.chainId }),
    {
      assets: [input.asset],
      maxAmount: input.maxAmount,
      store: new FilePaymentStore(input.storeDirectory),
      deadlineMs: input.deadlineMs,
      allowInsecureHttp: input.allowInsecureHttp,
      init: input.init,
      onEvent: (event) => {
        if (event.type === 'signed' || event.type === 'resuming') onSigned();
        terminal.stderr(describe(event));
      },
    },
  );
  let lastByte = LINE_BREAK;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    await terminal.stdout(chunk);
    lastByte = chunk.at(-1) ?? lastByte;
  }
  if (terminal.showsStdout && lastByte !== LINE_BREAK) await terminal.stdout('\n');
  if (response.status < 400) return 0;
  terminal.stderr(`The answer has status ${response.status}.`);
  return 5;
}

async function abandon(input: PayArguments, terminal: Terminal): Promise<number> {
  const key = requestKey(await takeRequest(input.url, input.init));
  const isAbandoned = await abandonPayment(new FilePaymentStore(input.storeDirectory), key);
  terminal.stderr(isAbandoned ? 'The payment is given up.' : 'No open payment is stored for this request.');
  return 0;
}

/** The `pay` command; resolves with its exit code (see `USAGE`). Writes no key, whatever goes wrong. */
export async function runPay(argv: readonly string[], env: NodeJS.ProcessEnv, terminal: Terminal): Promise<number> {
  let isSigned = false;
  try {
    const input = readArguments(argv, env);
    if (!input) {
      await terminal.stdout(USAGE);
      return 0;
    }
    if (input.isAbandoning) return await abandon(input, terminal);
    return await pay(input, terminal, () => {
      isSigned = true;
    });
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.stderr(`${error.message}\nSee --help.`);
      return 2;
    }
    const message = error instanceof Error ? error.message : String(error);
    if (!(error instanceof PaymentError)) {
      terminal.stderr(
        error instanceof Error && error.cause instanceof Error ? `${message}: ${error.cause.message}` : message,
      );
      return isSigned ? 4 : 1;
    }
    terminal.stderr(`${message} [${error.code}]`);
    const hint = HINTS[error.code] ?? error.hint;
    if (hint !== undefined) terminal.stderr(hint);
    return isSigned && error.code !== 'transaction_failed' ? 4 : 3;
  }
}
