import { spawn } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';

import { encodeJsonHeader, nonceOf } from '@tollgate/protocol';

import { startInTerminal } from '../../../../test/harness/chat/start-in-terminal.js';
import { startRpcProxy, type RpcProxy, type RpcReply } from '../../../../test/harness/network/rpc-proxy.js';
import { bundleProgram } from '../../../../test/harness/stack/bundle-program.js';
import { listTransfers, startPaidServer } from '../../test/paid-server.js';
import { useChain, useFolder, useOpened, useServer } from '../../test/set-up.js';
import { startSigningShop } from '../../test/signing-shop.js';
import { runPay } from './pay-command.js';

const chain = useChain();
const open = useOpened();
const server = useServer(() => startPaidServer(chain));
const directory = useFolder();

const payer = () => chain.accounts[7]!;

interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The command as users run it, in a process of its own; by a line of bash in which it is "$@". */
async function runCommand(args: string[], env: NodeJS.ProcessEnv = {}, line = 'exec "$@"'): Promise<Run> {
  const program = await bundleProgram('packages/client/src/cli/pay.ts');
  const child = spawn('bash', ['-c', line, 'bash', process.execPath, program, ...args], {
    cwd: directory(),
    env: { ...process.env, TOLLGATE_STATE_DIR: '', ...env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  return new Promise((done) => child.on('close', (code) => done({ code, stdout, stderr })));
}

/** The command within this process; `write` may fail instead of stdout. */
async function runHere(args: string[], env: NodeJS.ProcessEnv = {}, write: () => void = () => undefined): Promise<Run> {
  let stdout = '';
  let stderr = '';
  const code = await runPay(args, env, {
    showsStdout: false,
    stdout: async (bytes) => {
      write();
      stdout += typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString();
    },
    stderr: (line) => (stderr += `${line}\n`),
  });
  return { code, stdout, stderr };
}

/** No spec depends on the chain's speed. */
const PATIENT = ['--rpc-timeout', '60'];
const payArguments = () => [
  ...[server.url, '--max', '0.01', '--rpc', chain.rpcUrl, ...PATIENT],
  ...['--store', join(directory(), 'payments')],
];
const key = () => ({ WALLET_PRIVATE_KEY: payer().privateKey });

describe('pay', () => {
  it('writes the answer to stdout, progress to stderr, and the key nowhere', async () => {
    const { code, stdout, stderr } = await runCommand(payArguments(), key());
    expect({ code, stdout }).toEqual({ code: 0, stdout: '{"conditions":"Clear","number":1}' });
    expect(stderr).toContain(`Paying 0.001 USDC to ${chain.payTo}.`);
    expect(stderr).toContain('Answered: status 200.');
    expect(stdout + stderr).not.toContain(payer().privateKey.slice(2));
  });

  it('ends the answer with a line break on a terminal', async () => {
    const program = await bundleProgram('packages/client/src/cli/pay.ts');
    const session = startInTerminal([process.execPath, program, ...payArguments()], {
      env: { ...process.env, ...key() },
    });
    expect(await session.exited).toBe(0);
    expect(session.shown()).toMatch(/\{"conditions":"Clear","number":1\}\r\n$/);
  });

  async function writeDevnet(folder: string): Promise<void> {
    await mkdir(folder);
    const { rpcUrl, chainId, asset, payTo, accounts } = chain;
    const state = { rpcUrl, chainId, network: 'chain-testnet', asset, payTo, accounts };
    await writeFile(join(folder, 'dev.json'), JSON.stringify(state));
  }

  it('finds the devnet in TOLLGATE_STATE_DIR, and keeps its payments there', async () => {
    const folder = join(directory(), 'state');
    await writeDevnet(folder);
    const command = [server.url, '--max', '0.01', '--dev', ...PATIENT];
    const { code, stderr } = await runCommand(command, { TOLLGATE_STATE_DIR: folder });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect((await readdir(folder)).sort()).toEqual(['dev.json', 'payments']);
    expect(await readdir(directory())).toEqual(['state']);
  });

  it('names the folder in which no devnet runs, or was killed, with what to type', async () => {
    const folder = join(directory(), 'state');
    const command = [server.url, '--max', '0.01', '--dev'];
    const none = await runCommand(command, { TOLLGATE_STATE_DIR: folder });
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining(`No npm run dev runs in ${folder}: start`) });
    await writeDevnet(folder);
    await writeFile(join(folder, 'dev.pid'), `${2 ** 30} 12345`);
    const killed = await runCommand(command, { TOLLGATE_STATE_DIR: folder });
    const text = `The npm run dev in ${folder} was killed, and nothing answers there: start it`;
    expect(killed).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
  });

  it('takes everything from a running devnet', async () => {
    const folder = join(directory(), '.tollgate');
    await writeDevnet(folder);
    const state = { TOLLGATE_STATE_DIR: folder };
    const stranger = await runHere([server.url, '--max', '0.01', '--dev', '--pay-to', `0x${'11'.repeat(20)}`], state);
    expect(stranger).toMatchObject({ code: 3, stderr: expect.stringContaining('[no_trusted_requirement]') });
    // It refuses options that it would ignore: another token, for example, is not the one it pays with.
    const ignored = ['--asset', chain.asset, '--key-env', 'KEY'];
    const contradicting = await runHere([server.url, '--max', '0.01', '--dev', ...ignored], state);
    expect(contradicting).toMatchObject({ code: 2, stderr: expect.stringMatching(/^--dev .* --asset, --key-env\n/) });
    const { code, stdout } = await runCommand([server.url, '--max', '0.01', '--dev', ...PATIENT]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '{"conditions":"Clear","number":1}' });
    expect(server.paid()[0]?.proof?.payload.from).toBe(chain.accounts[0]!.address);
  });

  // Prevents: a server's text replaces the price, recipient or outcome that the command shows.
  it('lets no server draw on the terminal', async () => {
    const forged = `\u001b[2K\rPaying 0.000001 USDC to ${payer().address}.\nThe payment is mined.\u202e`;
    server.challenge = { extra: { name: forged, version: '2', reference: 'chain-1-a' } };
    server.interfere = [
      (response) => {
        response.writeHead(402, { 'X-Payment-Failure': 'forged' }).end(JSON.stringify({ error: forged }));
        return true;
      },
    ];
    const { code, stderr } = await runHere(payArguments(), key());
    expect(code).toBe(4);
    expect(stderr).not.toMatch(/[^\P{C}\n]/u);
    const lines = stderr.split('\n');
    expect(lines[0]).toMatch(/^Paying 0\.001 /);
    expect(lines.filter((line) => line === 'The payment is mined.')).toHaveLength(1);
  });

  it('sends method, headers, body and key', async () => {
    const body = join(directory(), 'body.json');
    await writeFile(body, '{"city":"Bern"}');
    const request = ['--header', 'X-Own: a:b', '--header', 'Content-Type: application/json', '--body', `@${body}`];
    const run = await runHere([...payArguments(), ...request, '--idempotency-key', 'order-1'], key());
    expect(run.code).toBe(0);
    expect(server.paid()[0]).toMatchObject({
      method: 'POST',
      body: '{"city":"Bern"}',
      headers: { 'x-own': 'a:b', 'content-type': 'application/json', 'idempotency-key': 'order-1' },
    });
  });

  it('keeps a payment that got no answer, redeems it when run again, and ends with 4 before', async () => {
    const before = (await listTransfers(chain, payer().address)).length;
    server.interfere = Array(100).fill((response: ServerResponse) => {
      response.destroy();
      return true;
    });
    const first = await runHere([...payArguments(), '--timeout', '10'], key());
    expect(first).toMatchObject({ code: 4, stdout: '' });
    expect(first.stderr).toContain('[payment_unredeemed]');
    server.interfere = [];
    const second = await runHere(payArguments(), key());
    expect(second).toMatchObject({ code: 0, stdout: '{"conditions":"Clear","number":1}' });
    expect(second.stderr).toContain('paying nothing');
    expect((await listTransfers(chain, payer().address)).length - before).toBe(1);
  });

  describe('keeps a payment whose answer was not written', () => {
    const long = 'x'.repeat(2 * 1024 * 1024);
    const sendLong = (response: ServerResponse) => {
      response.end(long);
      return true;
    };
    const paid = () => new Set(server.paid().map(({ headers }) => headers['x-payment'])).size;
    const fail = () => {
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    };

    it.each<[string, string[]]>([
      ['', []],
      [' with --json', ['--json']],
    ])('to a full disk%s: the next run presents it again', async (_case, args) => {
      const first = await runHere([...payArguments(), ...args], key(), fail);
      expect(first).toMatchObject({ code: 4, stdout: '', stderr: expect.stringMatching(/ENOSPC.*\n$/) });
      expect(await runHere([...payArguments(), ...args], key())).toMatchObject({ code: 0 });
      expect([server.paid().length, paid()]).toEqual([2, 1]);
      // A purchase that has its answer is over.
      expect((await runHere(payArguments(), key())).stderr).toContain('Signed 0x');
    });

    it('to a full disk, of a long answer: the next run presents it again', async () => {
      server.interfere = [sendLong, sendLong];
      expect(await runHere(payArguments(), key(), fail)).toMatchObject({ code: 4, stdout: '' });
      expect(await runHere(payArguments(), key())).toMatchObject({ code: 0, stdout: long });
      expect([server.paid().length, paid()]).toEqual([2, 1]);
    });

    it('because the connection broke: the next run presents it again', async () => {
      server.interfere = [
        (response) => {
          response.writeHead(200, { 'content-length': String(long.length) });
          response.write(long.slice(1), () => setTimeout(() => response.destroy(), 300));
          return true;
        },
        sendLong,
      ];
      expect(await runHere(payArguments(), key())).toMatchObject({ code: 4 });
      expect(await runHere(payArguments(), key())).toMatchObject({ code: 0, stdout: long });
      expect([server.paid().length, paid()]).toEqual([2, 1]);
    });

    it.each([
      ['on a full disk', 'exec "$@" > /dev/full', 'ENOSPC'],
      ['with room for a part of it', 'ulimit -f 256; exec "$@" > answer.json', 'EFBIG'],
    ])('to a file %s, by a process of its own', async (_case, line, error) => {
      const send = (response: ServerResponse) => {
        response.end(long.slice(0, 512 * 1024));
        return true;
      };
      server.interfere = [send, send];
      const run = await runCommand([...payArguments(), '--json'], key(), line);
      expect(run).toMatchObject({ code: 4, stderr: expect.stringContaining(error) });
      expect(await runHere(payArguments(), key())).toMatchObject({ code: 0 });
      expect([server.paid().length, paid()]).toEqual([2, 1]);
    });
  });

  it('writes one JSON document with --json', async () => {
    const { code, stdout } = await runHere([...payArguments(), '--json'], key());
    expect({ code, document: JSON.parse(stdout) as unknown }).toEqual({
      code: 0,
      document: {
        status: 200,
        contentType: expect.stringContaining('json'),
        taken: null,
        payment: expect.stringMatching(/^0x\w{64}$/),
        body: '{"conditions":"Clear","number":1}',
      },
    });
  });

  it('gives up a payment with the option for it', async () => {
    server.interfere = [
      (response) => {
        response.writeHead(402, { 'X-Payment-Failure': 'payment_too_old' }).end();
        return true;
      },
    ];
    expect(await runHere(payArguments(), key())).toMatchObject({ code: 4 });
    expect(await runHere([...payArguments(), '--abandon'], key())).toMatchObject({
      stderr: 'The payment is given up.\n',
    });
    expect((await runHere(payArguments(), key())).stderr).toContain('Signed 0x');
  });

  it.each([
    ['a price above --max', ['--max', '0.0009'], 3, '[over_limit]'],
    ['another recipient', ['--pay-to', `0x${'11'.repeat(20)}`], 3, '[no_trusted_requirement]'],
    ['another token', ['--asset', `0x${'11'.repeat(20)}`], 3, '[no_trusted_requirement]'],
    ['a bad chain id', ['--chain-id', 'x'], 2, '--chain-id is not a whole number'],
    ['a bad time', ['--rpc-timeout', '1.5'], 2, '--rpc-timeout is not a whole number'],
    ['a bad header', ['--header', 'x'], 2, '--header'],
    ['a header without a colon', ['--header', 'Authorization Bearer canary'], 2, "--header is not 'Name: value'"],
    [
      'a second header without a colon',
      ['--header', 'X-Own: a', '--header', 'canary'],
      2,
      "--header number 2 is not 'Name: value'",
    ],
    ['a header that cannot be sent', ['--header', 'X-Own: canary\n1'], 2, '--header cannot be sent in a header'],
    ['a key that cannot be sent', ['--idempotency-key', 'canary\n1'], 2, '--idempotency-key cannot be sent'],
    ['a body that is not there', ['--body', '@/nowhere/body.json'], 2, 'cannot be read (ENOENT): /nowhere/body.json'],
    ['no time', ['--timeout', '0'], 2, '--timeout is not a whole number above 0'],
    ['no time for the chain', ['--rpc-timeout', '0'], 2, '--rpc-timeout is not a whole number above 0'],
    ['an unknown option', ['--nonsense'], 2, '--nonsense'],
    ['two URLs', ['http://localhost'], 2, 'too many arguments'],
    ['no key under that name', ['--key-env', 'NONE'], 2, 'NONE does not hold a private key'],
  ])('pays nothing for %s', async (_case, args, code, text) => {
    const run = await runHere([...payArguments(), ...args], key());
    expect(run).toMatchObject({ code, stdout: '' });
    expect(run.stderr).toContain(text);
    expect(run.stderr).not.toContain(payer().privateKey.slice(2));
    expect(run.stderr).not.toContain('canary');
    expect(server.paid()).toEqual([]);
  });

  it.each([
    ['a limit that is no number', ['--max', '1e3'], '--max: Token amount "1e3" is not a decimal number'],
    ['a limit with a comma', ['--max', '0,01'], 'for example 0.001'],
    ['a limit below the token’s unit', ['--max', '0.0000001'], '--max: Token amount "0.0000001" has more than 6'],
    ['an allowance that is no number', ['--approve', 'all'], '--approve: Token amount "all"'],
    ['decimals that no token has', ['--decimals', '256'], '--decimals is above 255'],
    ['a recipient that is no address', ['--pay-to', '0x12'], '--pay-to is not an address'],
    ['a token that is no address', ['--asset', 'USDC'], '--asset is not an address'],
    ['an RPC URL that is none', ['--rpc', 'key@rpc'], '--rpc is not a URL of http or https'],
    ['an RPC URL of something else', ['--rpc', 'ftp://key@rpc'], '--rpc is not a URL of http or https'],
  ])('sends no request for %s: it is wrong usage', async (_case, args, text) => {
    const run = await runHere([...payArguments(), ...args], key());
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/\nSee --help\.\n$/) });
    expect(run.stderr).toContain(text);
    expect(run.stderr).not.toContain('key@rpc');
    expect(server.seen).toEqual([]);
  });

  it.each(['127.0.0.1/api', 'localhost:4020/api'])('sends no request for %s, which is not an http URL', async (url) => {
    const run = await runHere([url, ...payArguments().slice(1)], key());
    expect(run).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(`"${url}" is not a URL of http`),
    });
  });

  describe('with an RPC server that does not answer', () => {
    let proxy: RpcProxy;
    const host = () => new URL(proxy.rpcUrl).host;
    beforeEach(async () => {
      proxy = await startRpcProxy(chain.rpcUrl, '/v2/secret');
    });
    afterEach(() => proxy.stop());

    it.each<[string, RpcReply, string[], RegExp]>([
      ['is silent', 'silence', ['--rpc-timeout', '1'], /^does not answer in time\.$/],
      ['breaks connections', 'broken', [], /^does not answer \(\w+\)\.$/],
      ['wants to be paid', { status: 402, body: '{"error":"secret"}' }, [], /^answers with HTTP status 402\.$/],
      ['is another server', { body: '<html>secret</html>' }, [], /^does not answer in JSON\.$/],
    ])('reports one that %s, by its host alone, and that nothing was paid', async (_, reply, args, text) => {
      proxy.intercept('*', () => reply);
      const run = await runHere([...payArguments(), '--rpc', proxy.rpcUrl, ...args], key());
      expect(run).toMatchObject({ code: 3, stdout: '' });
      const [, said] = /\nThe RPC server at (.*) \[wallet_unavailable\]\n/.exec(run.stderr) ?? [];
      expect(said?.replace(`${host()} `, '')).toMatch(text);
      expect(run.stderr).toMatch(/\nNothing was paid\.\n$/);
      expect(run.stderr).not.toContain('secret');
      expect(server.paid()).toEqual([]);
    });

    it('reports the same before it signs for Permit2', async () => {
      proxy.intercept('eth_call', () => 'broken');
      const shop = await open(startSigningShop(chain, 2));
      shop.offer = { extra: { assetTransferMethod: 'permit2' } };
      const run = await runHere([shop.url, ...payArguments().slice(1), '--rpc', proxy.rpcUrl], key());
      expect(run).toMatchObject({ code: 3, stdout: '' });
      expect(run.stderr).toContain(`The RPC server at ${host()} does not answer`);
      expect(run.stderr).toMatch(/\nNothing was paid\.\n$/);
    });

    it('reports the outcome of a sent payment as unknown, and redeems it when run again', async () => {
      const before = (await listTransfers(chain, payer().address)).length;
      proxy.intercept('eth_getTransactionReceipt', () => 'broken');
      const args = [...payArguments(), '--rpc', proxy.rpcUrl];
      const run = await runHere([...args, '--timeout', '5'], key());
      expect(run).toMatchObject({ code: 4, stdout: '' });
      expect(run.stderr).toMatch(/\nTrying again in \d+ ms: The RPC server at \S+ does not answer/);
      expect(run.stderr).toMatch(/\nIt is unknown whether the payment 0x\w+ is mined\. The RPC server at /);
      expect(run.stderr).not.toMatch(/Nothing was paid|secret/);
      proxy.reset();
      expect(await runHere(args, key())).toMatchObject({ code: 0, stdout: '{"conditions":"Clear","number":1}' });
      expect((await listTransfers(chain, payer().address)).length - before).toBe(1);
    });
  });

  it('hints at its own options, not at the library’s', async () => {
    const [url = '', ...others] = payArguments();
    const remoteUrl = url.replace('127.0.0.1', '0.0.0.0');
    for (const [args, hint] of [
      [[url, ...others, '--max', '0.0009'], 'Raise --max if the price is right.'],
      [
        [url, ...others, '--network', 'x'],
        'Compare what it offers with --network, --chain-id, --asset, --pay-to and --also.',
      ],
      [[remoteUrl, ...others], 'Use https, or give --insecure on a network you trust.'],
    ] as const) {
      const run = await runHere([...args], key());
      expect(run).toMatchObject({ code: 3, stderr: expect.stringContaining(`\n${hint}\n`) });
    }
  });

  it('does not repeat a key that is malformed', async () => {
    for (const secret of [
      `${payer().privateKey}ff`,
      `0x${'fe'.repeat(32).replace(/^..../, 'ffff')}`,
      `0x${'f'.repeat(64)}`,
    ]) {
      const run = await runHere(payArguments(), { WALLET_PRIVATE_KEY: secret });
      expect(run.code).not.toBe(0);
      expect(run.stderr).not.toContain(secret.slice(8, 24));
      expect(run.stderr).not.toContain(BigInt(secret).toString().slice(0, 20));
    }
  });

  it('passes on a free answer, and a 404, and reports that nothing was paid', async () => {
    const ask = (path: string) => runHere([server.origin + path, ...payArguments().slice(1)], key());
    expect(await ask('/free')).toEqual({
      code: 0,
      stdout: 'free',
      stderr: 'The server asked for no payment: nothing was paid.\n',
    });
    expect(await ask('/missing')).toEqual({
      code: 3,
      stdout: 'missing',
      stderr: 'The answer has status 404: nothing was paid.\n',
    });
    expect(server.paid()).toEqual([]);
  });

  it('passes on an answer that failed after the payment', async () => {
    server.interfere = [
      (response) => {
        response.writeHead(404).end('gone');
        return true;
      },
    ];
    expect(await runHere(payArguments(), key())).toMatchObject({ code: 5, stdout: 'gone' });
  });

  const lastLine = ({ stderr }: Run) => stderr.trimEnd().split('\n').at(-1);

  it('reports the state of a transfer whose resource failed, and pays no second time for it', async () => {
    const before = (await listTransfers(chain, payer().address)).length;
    const fail = (headers: Record<string, string>) => (response: ServerResponse) => {
      response.writeHead(404, headers).end('gone');
      return true;
    };
    for (const [headers, line] of [
      [
        { 'X-Payment-Released': 'true' },
        /^The answer has status 404\. The payment is not spent: the transfer 0x\w{64} /,
      ],
      [{}, /does not say whether the payment was settled: .* pays nothing more\.$/],
      [{ 'Idempotent-Replayed': 'true' }, /: the payment is spent\.$/],
    ] as const) {
      server.interfere = [fail(headers)];
      const run = await runHere(payArguments(), key());
      expect({ code: run.code, line: lastLine(run) }).toEqual({ code: 5, line: expect.stringMatching(line) });
    }
    expect((await listTransfers(chain, payer().address)).length - before).toBe(1);
    expect((await runHere(payArguments(), key())).stderr).toContain('Signed 0x');
  });

  it('reports the same for an authorization, and signs no second one', async () => {
    const shop = await open(startSigningShop(chain, 2));
    const settled = { 'PAYMENT-RESPONSE': encodeJsonHeader({ success: true, transaction: '0x', network: 'x' }) };
    for (const [headers, line] of [
      [
        { 'X-Payment-Released': 'true' },
        /not spent: the same command, or one that corrects its query or body, presents the same authorization again, and signs no other one before 20/,
      ],
      [settled, /The payment was settled nevertheless: the same command presents it again/],
    ] as const) {
      shop.interfere = [(response) => void response.writeHead(404, headers).end('gone')];
      const run = await runHere([shop.url, ...payArguments().slice(1)], key());
      expect({ code: run.code, line: lastLine(run) }).toEqual({ code: 5, line: expect.stringMatching(line) });
    }
    expect(await runHere([shop.url, ...payArguments().slice(1)], key())).toMatchObject({
      code: 0,
      stdout: 'the goods',
    });
    expect(new Set(shop.shown.map(({ payment }) => nonceOf(payment))).size).toBe(1);
  });

  it('explains itself', async () => {
    const help = await runHere(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(/^Usage: tollgate-pay URL --max AMOUNT/);
  });
});
