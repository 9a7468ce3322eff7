import { createSignInMessage, type Hex } from '@tollgate/protocol';
import { hashMessage } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import { useSignedPaymentVerifier } from '../../test/use-signed-payment-verifier.js';
import { MalformedMessageError } from '../message-fields.js';
import { ContractSignatures } from './contract-signatures.js';
import { parseContractSignatureRequest } from './parse-contract-signature-request.js';

const { parts } = useSignedPaymentVerifier();
const terms = {
  ...{ domain: 'a.example', uri: 'https://a.example/', network: 'eip155:1328', nonce: 'a'.repeat(64) },
  ...{ issuedAt: '2026-01-01T00:00:00.000Z', expirationTime: '2026-01-01T00:05:00.000Z' },
};

describe("a contract's signature under a message", () => {
  const ask = async (changes: { signer?: Hex; chainId?: number; deadlineMs?: number; by?: number } = {}) => {
    const { devnet, wallet, ledger, chain } = parts();
    const { by = 0, ...others } = changes;
    const message = createSignInMessage(terms, wallet.address);
    const signature = await privateKeyToAccount(devnet.accounts[by]!.privateKey).signMessage({ message });
    const signatures = new ContractSignatures({ chainId: 1328, chain, nowMs: () => ledger.nowMs() });
    const deadlineMs = ledger.nowMs() + 10_000;
    const asked = { signer: wallet.address, hash: hashMessage(message), signature };
    return signatures.verify({ requestId: 'r', chainId: 1328, deadlineMs, ...asked, ...others });
  };

  it('is known by the contract alone', async () => {
    expect(await ask()).toEqual({ outcome: 'signed' });
    expect(await ask({ by: 1 })).toEqual({ outcome: 'not_signed' });
    expect(await ask({ signer: `0x${'34'.repeat(20)}` })).toEqual({ outcome: 'not_signed' });
    expect(await ask({ signer: parts().devnet.asset })).toEqual({ outcome: 'not_signed' });
  });

  it('is no matter of another chain, nor of a time that is over', async () => {
    expect(await ask({ chainId: 1 })).toEqual({ outcome: 'unavailable', reason: 'settings_differ' });
    expect(await ask({ deadlineMs: 1 })).toEqual({ outcome: 'unavailable', reason: 'deadline_passed' });
  });

  // Prevents: a contract that fails by design passes for a failing RPC server, and drives everybody off it.
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
  ])('is denied where the contract fails, which nodes call: %s', async (message) => {
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

  it('is not denied because the chain cannot be asked', async () => {
    parts().rpc.fail({ kind: 'status', status: 503 });
    expect(await ask()).toEqual({ outcome: 'unavailable', reason: 'rpc_http_error' });
    parts().rpc.fail(undefined);
    expect(await ask()).toEqual({ outcome: 'signed' });
  });
});

describe('the question for it', () => {
  const right = {
    ...{ requestId: 'r', deadlineMs: 1, chainId: 1328, signer: `0x${'Ab'.repeat(20)}` },
    ...{ hash: `0x${'12'.repeat(32)}`, signature: '0x12' },
  };

  it('is read in lower case', () => {
    expect(parseContractSignatureRequest(right)).toEqual({ ...right, signer: right.signer.toLowerCase() });
  });

  it.each([
    ['signer', '0x12'],
    ['hash', '0x12'],
    ['signature', 'mine'],
    ['signature', `0x${'12'.repeat(4097)}`],
    ['chainId', '1328'],
    ['deadlineMs', null],
  ])('is refused for a %s of %.20j', (name, value) => {
    expect(() => parseContractSignatureRequest({ ...right, [name]: value })).toThrow(MalformedMessageError);
  });
});
