// npm run capacity -- [options]: what so many paid requests a second need, computed from measured costs of one request.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { BUCKETS } from '../libs/ledger/src/keys.js';
import { formatNumber, formatTable } from './report.js';

const HELP = `npm run capacity -- [options]

What a rate of paid requests needs, from the costs that docs/performance.md measured. Prints Markdown.

  --rate <n>            paid requests a second; may be given several times (default 100, 10000, 1000000)
  --use <share>         how busy a core may be on average (default 0.6)
  --window <seconds>    how long the ledger keeps a payment (default 900)
  --answer <bytes>      stored answer (default 300)
  --gas-price <gwei>    (default 1)
  --coin <usd>          price of the chain's coin (default 0.2)
  --chain-gas <n>       gas the chain has room for in a second (default 100000000)
  --rpc-calls <n>       calls a second that the RPC plan allows (default 1000)
  --check               whether docs/capacity.md has these tables
`;

/**
 * Measured on two cores, as in docs/performance.md: microseconds of CPU time for one payment at 256 (by hash) and 128
 * (signed) in flight. `queueMicros`: what Redis takes beside the ledger.
 */
const COSTS = {
  hash: {
    ...{ gatewayMicros: 160, verifierMicros: 133, queueMicros: 47, ledgerMicros: 68 },
    // The receipt, the transaction, and a share of the head, in 0.05 requests.
    ...{ rpcCalls: 2.1, kilobytes: 4.1, gas: 35_000, isGasOurs: false },
  },
  signed: {
    ...{ gatewayMicros: 370, verifierMicros: 560, queueMicros: 172, ledgerMicros: 68 },
    // Three calls to the token and one for the payer's code, and a share of the batch's transaction, in 0.16 requests.
    ...{ rpcCalls: 4.4, kilobytes: 12.4, gas: 41_155, isGasOurs: true },
  },
} as const;
const BYTES_PER_ENTRY = 351;
/** Payments a second that one relayer settled. */
const PER_RELAYER = 770;
const PAGE = 'docs/capacity.md';

type Kind = keyof typeof COSTS;

interface Terms {
  use: number;
  windowSeconds: number;
  answerBytes: number;
  gasPriceGwei: number;
  coinUsd: number;
  chainGas: number;
  rpcCalls: number;
}

function tabulate(kind: Kind, rates: readonly number[], terms: Terms): string {
  const needs = rates.map((rate) => countNeeds(kind, rate, terms));
  const names = Object.keys(needs[0] ?? {});
  const head = [
    kind === 'hash' ? 'by transaction hash' : 'by signature',
    ...rates.map((rate) => `${formatNumber(rate)} a second`),
  ];
  return formatTable(
    head,
    names.map((name) => [name, ...needs.map((one) => one[name] ?? '')]),
  );
}

function countNeeds(kind: Kind, rate: number, terms: Terms): Record<string, string> {
  const costs = COSTS[kind];
  const processes = (micros: number) => Math.ceil((rate * micros) / 1e6 / terms.use);
  const coins = (rate * costs.gas * 86_400 * terms.gasPriceGwei) / 1e9;
  const gigabytes = (rate * terms.windowSeconds * (BYTES_PER_ENTRY + terms.answerBytes)) / 1e9;
  return {
    'gateways, a core each': formatNumber(processes(costs.gatewayMicros)),
    'verifiers, a core each': formatNumber(processes(costs.verifierMicros)),
    'primaries of the ledger': formatNumber(processes(costs.ledgerMicros)),
    'cores of the queue server': formatNumber((rate * costs.queueMicros) / 1e6),
    'memory of the ledger, GB': formatNumber(gigabytes),
    'Redis traffic, MB/s': formatNumber((rate * costs.kilobytes) / 1e3),
    'RPC calls a second': formatNumber(rate * costs.rpcCalls),
    ...(costs.isGasOurs ? { relayers: formatNumber(Math.ceil(rate / PER_RELAYER)) } : {}),
    'gas a second, millions': formatNumber((rate * costs.gas) / 1e6),
    [`gas a day, ${costs.isGasOurs ? 'ours' : "the payers'"}`]: `${formatNumber(coins)} coins, $${formatNumber(coins * terms.coinUsd)}`,
    'first bottleneck': findBottleneck(kind, rate, terms),
  };
}

/** What ends first as the rate grows, with the rate at which it does. */
function findBottleneck(kind: Kind, rate: number, { use, chainGas, rpcCalls }: Terms): string {
  const { queueMicros, ledgerMicros, gas, rpcCalls: callsEach } = COSTS[kind];
  const bounds: [string, number][] = [
    ['the RPC plan', rpcCalls / callsEach],
    ["the chain's gas", chainGas / gas],
    ['the slot of the queue', (use * 1e6) / queueMicros],
    [`the ledger's ${BUCKETS} slots`, (use * 1e6 * BUCKETS) / ledgerMicros],
  ];
  const reached = bounds.filter(([, bound]) => bound < rate).sort((a, b) => a[1] - b[1]);
  return reached.map(([name, bound]) => `${name} (${formatNumber(bound)})`).join(', ') || 'none';
}

const { values } = parseArgs({
  options: {
    rate: { type: 'string', multiple: true, default: ['100', '10000', '1000000'] },
    use: { type: 'string', default: '0.6' },
    window: { type: 'string', default: '900' },
    answer: { type: 'string', default: '300' },
    'gas-price': { type: 'string', default: '1' },
    coin: { type: 'string', default: '0.2' },
    'chain-gas': { type: 'string', default: '100000000' },
    'rpc-calls': { type: 'string', default: '1000' },
    check: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function parsePositive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} must be a number above zero`);
  return value;
}

function main(): void {
  if (values.help) return console.log(HELP);
  const rates = values.rate.map((text) => parsePositive('rate', text));
  const terms: Terms = {
    use: parsePositive('use', values.use),
    windowSeconds: parsePositive('window', values.window),
    answerBytes: parsePositive('answer', values.answer),
    gasPriceGwei: parsePositive('gas-price', values['gas-price']),
    coinUsd: parsePositive('coin', values.coin),
    chainGas: parsePositive('chain-gas', values['chain-gas']),
    rpcCalls: parsePositive('rpc-calls', values['rpc-calls']),
  };
  const tables = (['hash', 'signed'] as const).map((kind) => tabulate(kind, rates, terms));
  if (!values.check) return console.log(tables.join('\n\n'));
  const page = normalize(readFileSync(PAGE, 'utf8'));
  if (tables.some((table) => !page.includes(normalize(table)))) {
    console.error(`${PAGE} has other tables than \`npm run capacity\`.`);
    process.exitCode = 1;
  }
}

/** Without what the formatter aligns columns with. */
function normalize(text: string): string {
  return text.replaceAll(/[\s:-]+/g, '');
}

try {
  main();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
