import { randomBytes } from 'node:crypto';

import {
  createPermit2TypedData,
  parseSignedPayment,
  type Permit2Transfer,
  type SignedPermit,
} from '@tollgate/protocol';
import { encodeFunctionData, erc20Abi, maxUint256, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import type { Devnet, DevnetAccount } from '../../../tools/devnet/chain/chain.js';
import { sendTransaction } from '../../../tools/devnet/chain/transfer-tokens.js';
import { EXACT_PROXY, PERMIT2, UPTO_PROXY } from '../../../tools/devnet/protocols/place-contracts.js';

export interface PermitTerms {
  /** The maximum that may be moved. */
  amountBaseUnits: bigint;
  /** The account that may send it; with one the scheme is `upto`, without one `exact`. */
  facilitator?: Hex;
  /** Default: the devnet's recipient. */
  to?: Hex;
  /** Default: the devnet's USDC. */
  token?: Hex;
  /** The owner of the tokens; default: the account that signs. */
  from?: Hex;
  /** Default: the proxy of the scheme. */
  spender?: Hex;
  /** Default: random. */
  nonce?: bigint;
  /** Unix seconds; default: in some centuries. */
  deadline?: bigint;
  validAfter?: bigint;
}

/** A payment by Permit2 as a wallet signs it. */
export async function signPermit(chain: Devnet, signer: DevnetAccount, terms: PermitTerms): Promise<SignedPermit> {
  const { amountBaseUnits, facilitator, to = chain.payTo, token = chain.asset, from = signer.address } = terms;
  const { nonce = BigInt(`0x${randomBytes(32).toString('hex')}`), deadline = 20_000_000_000n, validAfter = 0n } = terms;
  const permit = {
    from,
    permitted: { token, amount: String(amountBaseUnits) },
    spender: terms.spender ?? (facilitator === undefined ? EXACT_PROXY : UPTO_PROXY),
    nonce: String(nonce),
    deadline: String(deadline),
  };
  const witness = { to, validAfter: String(validAfter) };
  const transfer: Permit2Transfer =
    facilitator === undefined
      ? { scheme: 'exact', permit2Authorization: { ...permit, witness } }
      : { scheme: 'upto', permit2Authorization: { ...permit, witness: { ...witness, facilitator } } };
  const signature = await privateKeyToAccount(signer.privateKey).signTypedData(
    createPermit2TypedData(transfer, chain.chainId),
  );
  const signed = parseSignedPayment({ signature, ...transfer });
  if (signed.kind !== 'permit2') throw new Error('a permit was read as something else');
  return signed;
}

/** Approves Permit2 for an account's tokens, as every payer does once. */
export async function approvePermit2(
  chain: Devnet,
  { owner, token = chain.asset, amount = maxUint256 }: { owner: Hex; token?: Hex; amount?: bigint },
): Promise<void> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [PERMIT2, amount] });
  await sendTransaction(chain, { from: owner, to: token, data });
}
