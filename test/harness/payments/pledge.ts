import { randomBytes } from 'node:crypto';

import {
  askForBalance,
  askForCode,
  ChainUnavailableError,
  NO_FACTORIES,
  readCall,
  readCode,
  readPayerSignature,
  readWord,
  tryCall,
  type ChainMethod,
  type PaymentUse,
  type PromisedMove,
} from '@tollgate/chain';
import type { JsonValue } from '@tollgate/journal';
import {
  ownField,
  parseAddressField,
  parseHexField,
  parseObjectField,
  parseUintField,
  readTransferLog,
  isHash,
  type EmittedLog,
  type Hex,
  type SignedMethod,
  type TypedData,
} from '@tollgate/protocol';
import { address, baseUnits, hash32, hexBytes, parseMessage } from '@tollgate/schemas';
import type { SettlementMethod } from '@tollgate/settlement';
import { PaymentRefused, type VerificationMethod } from '@tollgate/verification';
import {
  encodeFunctionData,
  erc20Abi,
  hashTypedData,
  maxUint256,
  parseAbi,
  parseSignature,
  toEventSelector,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { z } from 'zod';

import type { Devnet, DevnetAccount } from '../../../tools/devnet/chain/chain.js';
import { sendTransaction } from '../../../tools/devnet/chain/transfer-tokens.js';
import { readContracts } from '../../../tools/devnet/contracts/contracts.js';
import { deploy } from '../chain/deploy.js';

/** What the payer of `tools/devnet/contracts/Pledges.sol` signs. Addresses are lower case, numbers decimal text. */
interface Pledge {
  /** The contract that takes it. */
  contract: Hex;
  token: Hex;
  payer: Hex;
  payee: Hex;
  amount: string;
  /** The Unix second from which on it is not taken. */
  end: string;
  nonce: Hex;
}

export interface PledgeTerms {
  kind: 'pledge';
  pledge: Pledge;
}

interface PledgeForms {
  terms: PledgeTerms;
  toSign: PledgeTerms;
  id: { kind: 'pledge'; chainId: number; contract: Hex; payer: Hex; nonce: Hex };
}

export type SignedPledge = PledgeTerms & { signature: Hex };

declare module '@tollgate/protocol' {
  interface SignedMethods {
    pledge: PledgeForms;
  }
}

export const PLEDGES = parseAbi([
  'struct Pledge { address token; address payer; address payee; uint256 amount; uint256 end; bytes32 nonce; }',
  'function keep(Pledge pledge, uint8 v, bytes32 r, bytes32 s)',
  'function drop(bytes32 nonce)',
  'function isKept(address payer, bytes32 nonce) view returns (bool)',
]);
const KEPT = toEventSelector('Kept(address,bytes32)');
const DROPPED = toEventSelector('Dropped(address,bytes32)');
const TYPES = {
  Pledge: [
    { name: 'token', type: 'address' },
    { name: 'payer', type: 'address' },
    { name: 'payee', type: 'address' },
    { name: 'amount', type: 'uint256' },
    { name: 'end', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

const describe = ({ pledge: { contract: verifyingContract, ...message } }: PledgeTerms, chainId: number) => {
  const numbers = { amount: BigInt(message.amount), end: BigInt(message.end) };
  const domain = { name: 'Pledges', chainId, verifyingContract };
  return { domain, types: TYPES, primaryType: 'Pledge' as const, message: { ...message, ...numbers } };
};
const hashOf = (terms: PledgeTerms, chainId: number): Hex => hashTypedData(describe(terms, chainId));
const wordOf = (text: Hex): Hex => `0x${text.slice(2).padStart(64, '0')}`;

/** The wire: what is signed, and its id in the ledger. */
export const pledgeOnWire: SignedMethod<PledgeForms> = {
  kind: 'pledge',
  title: 'Pledges',
  noun: 'a pledge',
  transferMethod: 'pledge',
  payloadField: 'pledge',
  spender: null,
  schemes: ['exact'],
  versions: [2],
  id: {
    prefix: 'pledge',
    slot: 'kept',
    fields: { contract: 'address', payer: 'address', nonce: 'hash' },
    payer: 'payer',
    asset: null,
  },
  reasons: {},
  parse(payload) {
    const fields = parseObjectField(payload, 'pledge');
    const [contract, token] = [parseAddressField(fields, 'contract'), parseAddressField(fields, 'token')];
    const [payer, payee] = [parseAddressField(fields, 'payer'), parseAddressField(fields, 'payee')];
    const [amount, end] = [parseUintField(fields, 'amount'), parseUintField(fields, 'end')];
    const nonce = parseHexField(fields, 'nonce', isHash, '32 bytes');
    return { kind: 'pledge', pledge: { contract, token, payer, payee, amount, end, nonce } };
  },
  payerOf: ({ pledge }) => pledge.payer,
  recipientOf: ({ pledge }) => pledge.payee,
  amountOf: ({ pledge }) => pledge.amount,
  validityOf: ({ pledge }) => ({ validAfter: '0', validBefore: pledge.end }),
  endOf: ({ pledge }) => Number(pledge.end),
  schemeOf: () => 'exact',
  nonceOf: ({ pledge }) => pledge.nonce,
  idOf({ pledge: { contract, payer, nonce } }, { chainId }) {
    return { kind: 'pledge', chainId, contract, payer, nonce };
  },
  create({ from: payer, payTo: payee, asset: token, amount, maxTimeoutSeconds, nonce }, { extra }) {
    const end = String(Math.floor(Date.now() / 1000) + maxTimeoutSeconds);
    const contract = ownField(extra, 'contract') as Hex;
    return { kind: 'pledge', pledge: { contract, token, payer, payee, amount, end, nonce } };
  },
  parseToSign: (terms) => terms,
  termsOf: (toSign) => toSign,
  typedDataOf: (terms, chainId): TypedData => describe(terms, chainId),
};

/** The place of the payment's own `Kept` log; the token's transfer comes directly before it. */
function findKept(logs: readonly EmittedLog[], { contract, payer, nonce }: Pledge): number {
  return logs.findIndex(
    ({ address: emitter, topics }) =>
      emitter === contract && topics[0] === KEPT && topics[1] === wordOf(payer) && topics[2] === nonce,
  );
}

function findMoved(logs: readonly EmittedLog[], { asset, payTo, payment }: PromisedMove<PledgeTerms>): bigint | null {
  const log = logs[findKept(logs, payment.pledge) - 1];
  const transfer = log?.address === asset ? readTransferLog(log) : null;
  const isWhole = transfer?.to === payTo && transfer.amountBaseUnits === BigInt(payment.pledge.amount);
  return isWhole ? transfer.amountBaseUnits : null;
}

/** The chain: its nonces are the contract's, and its logs name them. */
export const pledgeOnChain: ChainMethod<PledgeTerms> = {
  kind: 'pledge',
  senderOf: () => null,
  askForNonceOf({ pledge: { contract, payer, nonce } }) {
    const data = encodeFunctionData({ abi: PLEDGES, functionName: 'isKept', args: [payer, nonce] });
    return {
      ask: (block) => ({
        method: 'eth_call',
        params: [{ to: contract, data }, block === undefined ? 'latest' : `0x${block.toString(16)}`],
      }),
      read: (result) => {
        const word = readWord(result);
        return word === null ? null : word === 1n;
      },
    };
  },
  async findUse(chain, { promised, sinceMs, deadlineMs }, headBlockNumber): Promise<PaymentUse> {
    const { contract, payer, nonce } = promised.payment.pledge;
    const topics = [[KEPT, DROPPED], [wordOf(payer)], [nonce]];
    const [log] = await chain.searchPast({ address: contract, topics, headBlockNumber, sinceMs, deadlineMs });
    if (log?.topics[0] === DROPPED) return { outcome: 'cancelled', txHash: log.txHash };
    const mined = log && (await chain.readTransaction(log.txHash, deadlineMs)).mined;
    if (!mined) throw new ChainUnavailableError('rpc_inconsistent', 'The server has the nonce and not its log.');
    const { receipt, input } = mined;
    const amountBaseUnits = findMoved(receipt.logs, promised);
    const { txHash, blockNumber } = receipt;
    if (amountBaseUnits === null) return { outcome: 'used', txHash };
    const minedAtMs = await chain.readBlockTime(receipt, deadlineMs);
    return { outcome: 'settled', txHash, blockNumber, minedAtMs, amountBaseUnits, input };
  },
  readMoves: (logs) => ({ of: (promised) => findMoved(logs, promised) }),
  findCauses(logs, { chainId, asset }) {
    return new Map(
      logs.flatMap(({ address: contract, topics: [event, payer = '0x', nonce = '0x'] }, position) => {
        if (event !== KEPT || logs[position - 1]?.address !== asset) return [];
        const id = { kind: 'pledge', chainId, contract, payer: `0x${payer.slice(-40)}`, nonce } as const;
        return [[position - 1, { kind: 'pledge', id, settler: contract }] as const];
      }),
    );
  },
  calldata: null,
  isIn: (calldata, { pledge }) => calldata.includes(pledge.nonce.slice(2)),
  isSignedIn: ({ input }, { signature }) => input.includes(signature.slice(2, 130)),
};

/** The call that settles a pledge, from any account. */
export function planKeep({ pledge, signature }: SignedPledge): { to: Hex; data: Hex } {
  const { v, r, s } = parseSignature(signature);
  const numbers = { amount: BigInt(pledge.amount), end: BigInt(pledge.end) };
  const args = [{ ...pledge, ...numbers }, Number(v ?? 27n), r, s] as const;
  return { to: pledge.contract, data: encodeFunctionData({ abi: PLEDGES, functionName: 'keep', args }) };
}

/** The call by which its payer takes a pledge back. */
export function planDrop({ pledge: { contract, nonce } }: PledgeTerms): { to: Hex; data: Hex } {
  return { to: contract, data: encodeFunctionData({ abi: PLEDGES, functionName: 'drop', args: [nonce] }) };
}

/** The rules: what is signed is what is asked for, and an account has signed it. */
export const pledgeRules: VerificationMethod<SignedPledge> = {
  kind: 'pledge',
  isOfTokenDomain: false,
  isCounted: true,
  approval: null,
  assertTerms({ pledge: { token, payee, amount } }, { asset, payTo, priceBaseUnits }) {
    if (token !== asset) throw new PaymentRefused('asset_mismatch');
    if (payee !== payTo) throw new PaymentRefused('recipient_mismatch');
    if (amount !== priceBaseUnits) throw new PaymentRefused('amount_mismatch');
  },
  async look({ terms, payment, deadlineMs }, { settleGasCap }, chain) {
    const { token, payer } = payment.pledge;
    const signer = { hash: hashOf(payment, terms.chainId), payer, factories: NO_FACTORIES };
    const settlement = { ...planKeep(payment), gas: settleGasCap };
    const nonce = pledgeOnChain.askForNonceOf(payment, token);
    const view = await chain.ask(
      {
        calls: [askForBalance(token, payer), askForCode(payer), tryCall(settlement), nonce.ask()],
        read: ([balance, code, settled, taken], headBlockNumber) => {
          const payerCode = readCode(code);
          return {
            isNonceTaken: nonce.read(taken),
            balanceBaseUnits: readWord(balance),
            wouldSettle: readCall(settled) !== null,
            payerCode,
            hasPayerCode: payerCode !== '0x',
            signatureAnswer: null,
            headBlockNumber,
          };
        },
      },
      deadlineMs,
    );
    return { signature: readPayerSignature(payment.signature, signer), view, settlement, factory: null };
  },
};

const job = z.object({
  entries: z.array(
    z.object({
      amountBaseUnits: baseUnits,
      forOther: z.literal(true).exactOptional(),
      signature: hexBytes,
      pledge: z.object({
        contract: address,
        token: address,
        payer: address,
        payee: address,
        amount: baseUnits,
        end: baseUnits,
        nonce: hash32,
      }),
    }),
  ),
});

/** The settlement: any account sends it, and several share a transaction. */
export const pledgeSettlement: SettlementMethod<SignedPledge, SignedPledge> = {
  kind: 'pledge',
  isSimulatedBySender: false,
  isProvenBySuccess: true,
  operation: 'settle-pledges',
  findMismatch({ pledge: { token, payee, amount } }, { asset, payTo }, paid) {
    if (token !== asset) return 'asset_mismatch';
    if (payee !== payTo) return 'recipient_mismatch';
    return BigInt(amount) === paid ? null : 'amount_mismatch';
  },
  describe: ({ kind, pledge }) => [kind, JSON.stringify(pledge)],
  readPayment: ({ payment }) => payment,
  isShareable: () => true,
  deploymentOf: () => null,
  planCall: ({ payment }) => planKeep(payment),
  async explainFree(chain, { asset, payer, amountBaseUnits }, { deadlineMs }) {
    const balance = await chain.readBalance(asset, payer, deadlineMs);
    return balance < BigInt(amountBaseUnits) ? 'balance_too_low' : null;
  },
  encodeJob: (entries) =>
    ({
      entries: entries.map(({ amountBaseUnits, forOther, payment: { pledge, signature } }) => {
        return { amountBaseUnits, ...(forOther && { forOther }), pledge, signature };
      }),
    }) as unknown as JsonValue,
  parseJob: (input) =>
    parseMessage(job, input).entries.map(({ pledge, signature, ...entry }) => {
      const { token: asset, payee: payTo, payer } = pledge;
      return { ...entry, asset, payTo, payer, payment: { kind: 'pledge', pledge, signature } };
    }),
};

/** Returns the address of a new contract that takes pledges. */
export async function deployPledges(chain: Devnet): Promise<Hex> {
  const { Pledges } = await readContracts();
  return (await deploy(chain, Pledges.bytecode)).toLowerCase() as Hex;
}

/** Lets the contract move all tokens of an account that the devnet has unlocked. */
export function approvePledges(chain: Devnet, owner: Hex, contract: Hex): Promise<Hex> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [contract, maxUint256] });
  return sendTransaction(chain, { from: owner, to: chain.asset, data });
}

/** A pledge of the devnet's token to its recipient. */
export async function signPledge(
  chain: Devnet,
  signer: DevnetAccount,
  { contract, ...changes }: Partial<Pledge> & { contract: Hex },
): Promise<SignedPledge> {
  const [token, payer, payee] = [chain.asset, signer.address, chain.payTo].map((text) => text.toLowerCase() as Hex) as [
    Hex,
    Hex,
    Hex,
  ];
  const end = String(Math.floor(Date.now() / 1000) + 3600);
  const nonce: Hex = `0x${randomBytes(32).toString('hex')}`;
  const pledge = { contract, token, payer, payee, amount: '1000', end, nonce, ...changes };
  const terms: PledgeTerms = { kind: 'pledge', pledge };
  const signature = await privateKeyToAccount(signer.privateKey).signTypedData(describe(terms, chain.chainId));
  return { ...terms, signature };
}
