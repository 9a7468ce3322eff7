import { createServer } from 'node:http';

import { findHashLocks } from '@tollgate/protocol';
import {
  createPublicClient,
  erc20Abi,
  formatEther,
  formatUnits,
  http,
  isAddress,
  isHash,
  parseEventLogs,
  type Hex,
} from 'viem';

import { listenLocally } from '../processes/listen-locally.js';
import type { Devnet } from './chain.js';

export interface Explorer {
  /** `<url>/tx/<hash>` shows a transaction, `<url>/address/<address>` an account. */
  url: string;
  stop(): Promise<void>;
}

/** A block explorer of two pages, for the links of challenges and of the agent kit. */
export async function startExplorer(chain: Devnet): Promise<Explorer> {
  const server = createServer((request, response) => {
    const [, kind, id = ''] = /^\/(tx|address)\/(0x[0-9a-f]+)\/?$/i.exec(request.url ?? '') ?? [];
    const answer = (status: number, title: string, rows: [string, string][]) => {
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(renderPage(title, rows));
    };
    const look =
      kind === 'tx' && isHash(id)
        ? { title: `Transaction ${id}`, rows: describeTransaction(chain, id) }
        : kind === 'address' && isAddress(id, { strict: false })
          ? { title: `Account ${id}`, rows: describeAccount(chain, id) }
          : null;
    if (look === null) return answer(404, 'Ask for /tx/<transaction hash> or /address/<address>', []);
    look.rows.then(
      (rows) => answer(200, look.title, rows),
      (error: unknown) => answer(404, `No ${look.title}`, [['cause', String(error).split('\n', 1)[0] ?? '']]),
    );
  });
  return listenLocally(server);
}

async function describeAccount(chain: Devnet, address: Hex): Promise<[string, string][]> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const [wei, usdc, sent] = await Promise.all([
    client.getBalance({ address }),
    client.readContract({ address: chain.asset, abi: erc20Abi, functionName: 'balanceOf', args: [address] }),
    client.getTransactionCount({ address }),
  ]);
  return [
    ['native token', formatEther(wei)],
    ['USDC', formatUnits(usdc, 6)],
    ['transactions sent', String(sent)],
  ];
}

async function describeTransaction(chain: Devnet, hash: Hex): Promise<[string, string][]> {
  const client = createPublicClient({ transport: http(chain.rpcUrl) });
  const transaction = await client.getTransaction({ hash });
  const rows: [string, string][] = [
    ['from', transaction.from],
    ['to', transaction.to ?? 'a new contract'],
  ];
  const receipt = await client.getTransactionReceipt({ hash }).catch(() => null);
  if (!receipt) return [['status', 'pending'], ...rows];
  const block = await client.getBlock({ blockNumber: receipt.blockNumber });
  for (const { address, args } of parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs: receipt.logs })) {
    const isAsset = address.toLowerCase() === chain.asset.toLowerCase();
    const amount = isAsset ? `${formatUnits(args.value, 6)} USDC` : `${args.value} units of token ${address}`;
    rows.push(['transfer', `${amount} from ${args.from} to ${args.to}`]);
  }
  for (const { lock } of findHashLocks(transaction.input)) rows.push(['hash lock', lock]);
  return [
    ['status', receipt.status === 'success' ? 'success' : 'failed'],
    ['block', `${receipt.blockNumber}, ${new Date(Number(block.timestamp) * 1000).toISOString()}`],
    ...rows,
  ];
}

function renderPage(title: string, rows: [string, string][]): string {
  const body = rows.map(([name, value]) => `<tr><th align="left">${escape(name)}<td>${escape(value)}`).join('\n');
  const head = `<meta name="viewport" content="width=device-width"><style>h3, td { overflow-wrap: anywhere }</style>`;
  return `<!doctype html>${head}<title>${escape(title)}</title><h3>${escape(title)}</h3>\n<table>${body}</table>\n`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
