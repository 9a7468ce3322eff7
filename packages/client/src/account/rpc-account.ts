import { PaymentError, raiseHeadFees, type HeadFees, type Hex } from '@tollgate/protocol';
import {
  isAddressEqual,
  keccak256,
  recoverTransactionAddress,
  TransactionReceiptNotFoundError,
  type LocalAccount,
  type PublicClient,
  type TransactionReceipt,
  type TransactionSerialized,
} from 'viem';

import { createWalletUnavailable, explainNodeRefusal, isUnanswered, lookUp } from '../network/rpc-failure.js';
import { findNonceUse, type NonceUse } from './find-nonce-use.js';
import { takeNonce, type NonceSource } from './next-nonce.js';
import { pollReceipt } from './poll-receipt.js';
import { quoteCall, type Quote } from './quote-call.js';
import { sendBytes, type BytesAnswer } from './send-bytes.js';
import type { SignedTransaction } from './signed-transaction.js';
import { createSigners, type AuthorizationSigner, type PermitSigner } from './signers.js';
import type { Account, Call, Confirmation } from './wallet.js';

interface RpcAccountOptions extends Omit<NonceSource, 'address'> {
  signer: LocalAccount;
  chainId: number;
  /** Asks nodes that have the account's last transaction. */
  state: PublicClient;
}

/** An account over viem and JSON-RPC. The key stays in memory and is never part of an error. */
export class RpcAccount implements Account {
  readonly address: Hex;
  readonly chainId: number;
  readonly authorizations: AuthorizationSigner;
  readonly permits: PermitSigner;
  readonly #signer: LocalAccount;
  readonly #source: NonceSource;
  readonly #state: PublicClient;
  #isChainChecked = false;

  constructor({ signer, chainId, state, ...source }: RpcAccountOptions) {
    this.address = signer.address;
    this.chainId = chainId;
    const { authorizations, permits } = createSigners(signer, { chain: source.chain, state }, chainId);
    this.authorizations = authorizations;
    this.permits = permits;
    this.#signer = signer;
    this.#source = { ...source, address: signer.address };
    this.#state = state;
  }

  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#source.memory.inTurn(work);
  }

  async sign(call: Call): Promise<SignedTransaction> {
    return this.#explain(async () => {
      await this.#assertChain();
      const [quote, nonce] = await Promise.all([this.#quote(call), this.#chooseNonce(call)]);
      return this.#signWith(call, quote, nonce);
    });
  }

  async broadcast(signed: SignedTransaction): Promise<void> {
    const { servers, memory } = this.#source;
    const answer = await sendBytes(servers, signed);
    if (answer.kind !== 'accepted' && !(await this.#isKnown(signed.txHash))) throw explainSending(signed, answer);
    // A payment may be sent again by the wallet of another payer.
    const serializedTransaction = signed.rawTransaction as TransactionSerialized;
    const sender = await recoverTransactionAddress({ serializedTransaction });
    if (isAddressEqual(sender, this.address)) memory.noteAccepted(signed);
  }

  async readOutcome(txHash: Hex): Promise<'success' | 'failed' | null> {
    try {
      const receipt = await this.#source.chain.getTransactionReceipt({ hash: txHash });
      this.#note(this.#source.memory.findNonce(txHash), receipt);
      return receipt.status === 'success' ? 'success' : 'failed';
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return null;
      throw explainNodeRefusal('wallet_unavailable', 'The receipt cannot be read', error);
    }
  }

  readNonceUse(payer: Hex, nonce: number): Promise<NonceUse | null> {
    return lookUp('nonce', () => findNonceUse(this.#source.chain, { address: payer, nonce }));
  }

  async confirm(signed: SignedTransaction, patience = this.#source.patience): Promise<Confirmation> {
    const { txHash, nonce } = signed;
    let by: Hex | null = null;
    const onMissing = async () => {
      // A node that has lost the bytes gets the same ones again.
      await sendBytes(this.#source.servers, signed);
      const use = await findNonceUse(this.#source.chain, { address: this.address, nonce });
      if (use && use.txHash !== txHash) by = use.txHash;
      return by !== null;
    };
    const receipt = await pollReceipt(this.#source.chain, txHash, { ...patience, onMissing });
    if (receipt) {
      this.#note(nonce, receipt);
      return { outcome: receipt.status === 'success' ? 'success' : 'failed', receipt };
    }
    if (by === null) return { outcome: 'unknown' };
    this.#source.memory.noteTaken(nonce);
    return { outcome: 'replaced', by };
  }

  async replace(txHash: Hex, call: Call): Promise<SignedTransaction> {
    return this.#replace(txHash, () => call);
  }

  async speedUp(txHash: Hex): Promise<SignedTransaction> {
    return this.#replace(txHash, (call) => call);
  }

  async cancel(txHash: Hex): Promise<SignedTransaction> {
    return this.#replace(txHash, () => ({ to: this.address, data: '0x' }));
  }

  async #replace(txHash: Hex, choose: (call: Call) => Call): Promise<SignedTransaction> {
    const replacement = await this.#explain(async () => {
      await this.#assertChain();
      const pending = await readPending(this.#source.chain, this.address, txHash);
      const call = choose(pending.call);
      const quote = await this.#quote(call);
      return this.#signWith(call, { ...quote, fees: raiseHeadFees(pending.fees, quote.fees) }, pending.nonce);
    });
    await this.broadcast(replacement);
    return replacement;
  }

  async #chooseNonce({ nonce }: Call): Promise<number> {
    if (nonce === undefined) return takeNonce(this.#source);
    if (!this.#source.memory.isUsed(nonce)) return nonce;
    throw new PaymentError('cannot_pay', `The nonce ${nonce} was used for another call.`, {
      hint: 'Leave it out, or replace that transaction.',
      details: { nonce },
    });
  }

  /** @throws PaymentError `cannot_pay` if the account cannot pay for it */
  async #quote(call: Call): Promise<Quote> {
    const [quote, balance] = await Promise.all([
      quoteCall(this.#state, this.address, call),
      this.#state.getBalance({ address: this.address }),
    ]);
    if (balance >= quote.needed) return quote;
    throw new PaymentError(
      'cannot_pay',
      `The wallet has insufficient funds: ${quote.needed} wei are needed with the gas, ${balance} are available.`,
      { hint: 'Send native coin to the wallet.', details: { needed: `${quote.needed}`, balance: `${balance}` } },
    );
  }

  async #signWith(call: Call, { gas, fees }: Quote, nonce: number): Promise<SignedTransaction> {
    const { to, data, value = 0n } = call;
    const transaction = { chainId: this.chainId, to, data, value, nonce, gas, ...fees };
    const rawTransaction = await this.#signer.signTransaction(transaction);
    return { txHash: keccak256(rawTransaction), rawTransaction, nonce };
  }

  /** @param nonce null if this process did not send the transaction */
  #note(nonce: number | null, receipt: TransactionReceipt): void {
    const { memory } = this.#source;
    if (nonce !== null) memory.noteMined(nonce, receipt);
    else if (isAddressEqual(receipt.from, this.address)) memory.noteBlock(receipt.blockNumber);
  }

  /** @throws PaymentError `wallet_unavailable` when no node says */
  async #isKnown(hash: Hex): Promise<boolean> {
    const asked = await Promise.allSettled([
      this.#source.chain.getTransaction({ hash }),
      this.#source.chain.getTransactionReceipt({ hash }),
    ]);
    if (asked.some(({ status }) => status === 'fulfilled')) return true;
    const open: unknown = asked.map((one) => one.status === 'rejected' && (one.reason as unknown)).find(isUnanswered);
    if (open) throw createWalletUnavailable(open, 'The transaction cannot be read from the chain.');
    return false;
  }

  async #assertChain(): Promise<void> {
    if (this.#isChainChecked) return;
    const actual = await this.#source.chain.getChainId();
    if (actual !== this.chainId) {
      throw new PaymentError('wrong_chain', `The RPC endpoint is on chain ${actual}, the wallet on ${this.chainId}.`, {
        hint: 'Give the RPC endpoint of the chain you pay on.',
      });
    }
    this.#isChainChecked = true;
  }

  async #explain<T>(work: () => Promise<T>): Promise<T> {
    return work().catch((error: unknown) => {
      throw explainNodeRefusal('cannot_pay', 'The wallet cannot make this transfer', error);
    });
  }
}

function explainSending({ txHash }: SignedTransaction, answer: Exclude<BytesAnswer, { kind: 'accepted' }>): unknown {
  if (answer.kind === 'unknown') {
    return createWalletUnavailable(answer.error, `It is not known whether the chain has the transaction ${txHash}.`);
  }
  const { refusal, error } = answer;
  return explainNodeRefusal('broadcast_refused', `The chain refused the transaction ${txHash}`, error, { refusal });
}

/** A sent transaction that is not mined. */
interface PendingTransaction {
  call: Call;
  nonce: number;
  fees: HeadFees;
}

/** @throws PaymentError `cannot_pay` when the account has no such transaction waiting, or what the client throws */
async function readPending(client: PublicClient, address: Hex, hash: Hex): Promise<PendingTransaction> {
  const found = await client.getTransaction({ hash });
  const { from, to, input: data, value, nonce, blockNumber, maxFeePerGas, maxPriorityFeePerGas, gasPrice } = found;
  if (blockNumber !== null || to === null || from.toLowerCase() !== address.toLowerCase()) {
    throw new PaymentError('cannot_pay', `The transaction ${hash} is not one of this account that waits to be mined.`, {
      hint: 'Only such a transaction can be replaced.',
      details: { txHash: hash },
    });
  }
  const fees: HeadFees =
    maxFeePerGas === undefined || maxPriorityFeePerGas === undefined
      ? { type: 'legacy', gasPrice: gasPrice ?? 0n }
      : { type: 'eip1559', maxFeePerGas, maxPriorityFeePerGas };
  return { call: { to, data, value }, nonce, fees };
}
