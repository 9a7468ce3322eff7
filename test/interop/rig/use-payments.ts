import { encodeFunctionData, parseAbi, type Hex } from 'viem';

import { planPermitTransfer } from '../../../libs/chain/src/methods/permit2/permit-contracts.js';
import type { Devnet } from '../../../tools/devnet/chain/chain.js';
import { sendTransaction } from '../../../tools/devnet/chain/transfer-tokens.js';
import type { HttpTap, TappedAnswer } from '../../../tools/devnet/interop/http-tap.js';
import type { Client } from '../matrix.js';
import { readPayment, readSigned, type Message } from './alter-messages.js';
import type { Rig } from './start-rig.js';

const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

/** From now on each payment is sent `times` at once; the client gets an answer with status 200 if there is one. */
export function sendTogether(tap: HttpTap, client: Client, times: number): TappedAnswer[] {
  const answers: TappedAnswer[] = [];
  tap.interfere(async (request, send) => {
    if (readPayment(request, client) === null) return send(request);
    const all = await Promise.all(Array.from({ length: times }, () => send(request)));
    answers.push(...all);
    return all.find(({ status }) => status === 200) ?? all[0]!;
  });
  return answers;
}

/** From now on a stranger sends each payment's authorization to the token, or to Permit2, before it goes on. */
export function preempt({ chain }: Rig, tap: HttpTap, client: Client): Hex[] {
  const hashes: Hex[] = [];
  tap.interfere(async (request, send) => {
    const payment = readPayment(request, client);
    if (payment === null) return send(request);
    const { to, data } = planTransfer(chain, payment);
    hashes.push(await sendTransaction(chain, { from: chain.bulkSenders[2], to, data }));
    return send(request);
  });
  return hashes;
}

function planTransfer({ asset }: Devnet, payment: Message): { to: Hex; data: Hex } {
  const signed = readSigned(payment);
  if (signed.kind === 'permit2')
    return planPermitTransfer(signed, BigInt(signed.permit2Authorization.permitted.amount));
  if (signed.kind !== 'authorization') throw new Error(`no client sends a ${signed.kind}`);
  const { from, to, value, validAfter, validBefore, nonce } = signed.authorization;
  const numbers = [BigInt(value), BigInt(validAfter), BigInt(validBefore)] as const;
  const args = [from, to, ...numbers, nonce, signed.signature] as const;
  return { to: asset, data: encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args }) };
}
