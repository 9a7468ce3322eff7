import { randomBytes } from 'node:crypto';

import { createSignInMessage, type Hex } from '@tollgate/protocol';
import { hashMessage } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { useSignedPaymentVerifier } from '../../test/use-signed-payment-verifier.js';
import { ClientShares } from '../limits/client-shares.js';
import { ContractSignatures } from './contract-signatures.js';

const { parts } = useSignedPaymentVerifier();
/** Another message each time, because a signature that a contract refused is not checked again at once. */
const createTerms = () => ({
  domain: 'a.example',
  uri: 'https://a.example/',
  network: 'eip155:1328',
  nonce: randomBytes(32).toString('hex'),
  issuedAt: '2026-01-01T00:00:00.000Z',
  expirationTime: '2026-01-01T00:05:00.000Z',
});

describe("a contract's signature under a message", () => {
  const ask = async (changes: { signer?: Hex; chainId?: number; deadlineMs?: number; by?: number } = {}) => {
    const { request, signatures } = await createQuestion(changes);
    return signatures.verify(request);
  };
  const createQuestion = async (
    changes: { signer?: Hex; chainId?: number; deadlineMs?: number; by?: number; clientAddress?: string },
    share: { lookupsPerMinute?: number } = {},
  ) => {
    const { devnet, wallet, ledger, chain } = parts();
    const { by = 0, ...others } = changes;
    const message = createSignInMessage(createTerms(), wallet.address);
    const signature = await privateKeyToAccount(devnet.accounts[by]!.privateKey).signMessage({ message });
    const nowMs = () => ledger.nowMs();
    const shares = new ClientShares({ lookupsPerMinute: 1_200, bytesPerMinute: 8_388_608, ...share, nowMs });
    const signatures = new ContractSignatures({ chainId: 1328, chain, shares, nowMs });
    const deadlineMs = ledger.nowMs() + 60_000;
    const asked = { signer: wallet.address, hash: hashMessage(message), signature };
    const request = { requestId: 'r', chainId: 1328, deadlineMs, clientAddress: '10.0.0.1', ...asked, ...others };
    return { request, signatures };
  };

  it('is valid only for that contract', async () => {
    expect(await ask()).toEqual({ outcome: 'signed' });
    expect(await ask({ by: 1 })).toEqual({ outcome: 'not_signed' });
    expect(await ask({ signer: `0x${'34'.repeat(20)}` })).toEqual({ outcome: 'not_signed' });
    expect(await ask({ signer: parts().devnet.asset })).toEqual({ outcome: 'not_signed' });
  });

  it('is not checked for another chain or after the deadline', async () => {
    expect(await ask({ chainId: 1 })).toEqual({ outcome: 'unavailable', reason: 'settings_differ' });
    expect(await ask({ deadlineMs: 1 })).toEqual({ outcome: 'unavailable', reason: 'deadline_passed' });
  });

  // Prevents: an RPC server passes on a megabyte for each question, and all others wait for it.
  it.each([
    ['returns', '0x620e00006000f3'],
    ['reverts with', '0x620e00006000fd'],
  ])('is refused with a few bytes if the contract %s a megabyte', async (_, code) => {
    const { devnet, rpc } = parts();
    const signer: Hex = `0x${'78'.repeat(20)}`;
    await callRpc(devnet.rpcUrl, 'anvil_setCode', [signer, code]);
    rpc.longestAnswer = 0;
    expect(await ask({ signer })).toEqual({ outcome: 'not_signed' });
    expect(rpc.longestAnswer).toBeLessThan(1_000);
  });

  it('is not checked again at once after a refusal, and only once for simultaneous questions', async () => {
    const { rpc } = parts();
    const { request, signatures } = await createQuestion({ by: 1 });
    rpc.requests.length = 0;
    const verdicts = await Promise.all(Array.from({ length: 8 }, () => signatures.verify(request)));
    expect([...verdicts, await signatures.verify(request)]).toEqual(Array(9).fill({ outcome: 'not_signed' }));
    expect(rpc.requests.flat().filter((method) => method === 'eth_call')).toHaveLength(1);
  });

  it('is not checked for a client over its share, but for all others', async () => {
    const { request, signatures } = await createQuestion({}, { lookupsPerMinute: 2 });
    const asked = (by: number) => createQuestion({ by }).then((other) => signatures.verify(other.request));
    expect([await asked(1), await asked(1)]).toEqual([{ outcome: 'not_signed' }, { outcome: 'not_signed' }]);
    expect(await signatures.verify(request)).toEqual({ outcome: 'unavailable', reason: 'client_share_used_up' });
    expect(await signatures.verify({ ...request, clientAddress: '10.0.0.2' })).toEqual({ outcome: 'signed' });
  });

  // Prevents: a contract that fails by design counts as a failing RPC server, and all clients are moved off that
  // server.
  it.each([
    'execution reverted',
    'out of gas',
    'invalid opcode: INVALID',
    'invalid jump destination',
    'invalid code: must not begin with 0xef',
    'stack underflow (0 <=> 1)',
    'stack limit reached 1024 (1023)',
    'gas uint64 overflow',
    'return data out of bounds',
    'write protection',
    'max initcode size exceeded',
    'EVM error OutOfOffset',
  ])('is refused if the contract fails, which nodes report as: %s', async (message) => {
    const { rpc } = parts();
    rpc.requests.length = 0;
    rpc.fail({
      kind: 'rewrite',
      rewrite: (answers) =>
        answers.map(({ result, ...answer }) =>
          answer.method === 'eth_call' ? { ...answer, error: { code: -32_000, message } } : { ...answer, result },
        ),
    });
    expect(await ask()).toEqual({ outcome: 'not_signed' });
    expect(rpc.requests).toHaveLength(1);
  });

  it('is not refused because the chain is unavailable', async () => {
    parts().rpc.fail({ kind: 'status', status: 503 });
    expect(await ask()).toEqual({ outcome: 'unavailable', reason: 'rpc_http_error' });
    parts().rpc.fail(undefined);
    expect(await ask()).toEqual({ outcome: 'signed' });
  });
});
