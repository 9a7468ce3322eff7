// A JSON-RPC server with the logs of PAYMENTS transfers, PER_BLOCK in each block, and the limits of a provider: 2,000 blocks
// and 10,000 logs in one answer. Everything is computed from the number of the payment; see bench/lanes/reconcile.ts.
import { encodeAddress, encodeNumber } from '../../libs/chain/src/contracts/abi-encoding.js';
import { paymentAt } from '../reconcile-chain.js';
import { serveJsonRpc, type Call } from './serve-json-rpc.js';

interface Filter {
  address: string[];
  topics: [string[], null, string[]];
  fromBlock: string;
  toBlock: string;
}

const MOST_BLOCKS = 2_000;
const MOST_LOGS = 10_000;
const payments = Number(process.env['PAYMENTS']);
const perBlock = Number(process.env['PER_BLOCK']);
const chainId = Number(process.env['CHAIN_ID']);
const head = Math.ceil(payments / perBlock) + 20;
const hex = (number: number): string => `0x${number.toString(16)}`;
const hashOf = (number: number): string => `0xb${number.toString(16).padStart(63, '0')}`;

function readBlock(number: number): object {
  return { number: hex(number), hash: hashOf(number), timestamp: hex(1_800_000_000 + number), transactions: [] };
}

function readLogs({ address, topics, fromBlock, toBlock }: Filter): object {
  const [from, to] = [Number(fromBlock), Number(toBlock)];
  const first = (from - 1) * perBlock + 1;
  const last = Math.min(payments, to * perBlock);
  if (to - from >= MOST_BLOCKS) throw new Error('block range is too large');
  if (last - first >= MOST_LOGS) throw new Error('query returned more than 10000 results');
  const logs: object[] = [];
  for (let number = Math.max(1, first); number <= last; number++) {
    const { transaction, payer, amount } = paymentAt(number);
    const block = Math.ceil(number / perBlock);
    logs.push({
      ...{ address: address[0], topics: [topics[0][0], `0x${encodeAddress(payer)}`, topics[2][0]] },
      ...{ data: `0x${encodeNumber(amount)}`, transactionHash: transaction, removed: false },
      ...{ blockNumber: hex(block), blockHash: hashOf(block), logIndex: hex((number - 1) % perBlock) },
    });
  }
  return logs;
}

function answer({ id, method, params }: Call): object {
  const reply = { jsonrpc: '2.0', id };
  try {
    switch (method) {
      case 'eth_chainId':
        return { ...reply, result: hex(chainId) };
      case 'eth_blockNumber':
        return { ...reply, result: hex(head) };
      case 'eth_getBlockByNumber':
        return { ...reply, result: readBlock(Number(params[0])) };
      case 'eth_getLogs':
        return { ...reply, result: readLogs(params[0] as Filter) };
      case 'eth_getTransactionReceipt':
        return { ...reply, result: null };
      default:
        return { ...reply, error: { code: -32601, message: `no ${method}` } };
    }
  } catch (error) {
    return { ...reply, error: { code: -32005, message: (error as Error).message } };
  }
}

await serveJsonRpc((calls) => Promise.resolve(calls.map((call) => JSON.stringify(answer(call)))));
