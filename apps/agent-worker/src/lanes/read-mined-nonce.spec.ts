import { RpcException } from '@nestjs/microservices';
import { Chain } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import type { ReadMinedNonceRequest } from '@tollgate/transport';

import { startChain, type Devnet } from '../../../../tools/devnet/chain/chain.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { ReadMinedNonceController } from './read-mined-nonce.controller.js';

const ADDRESS: Hex = '0x00000000000000000000000000000000000a11ce';

describe('the mined nonce of a wallet', () => {
  let devnet: Devnet;
  let chain: Chain;

  beforeAll(async () => {
    devnet = await startChain();
    chain = new Chain({ chainId: devnet.chainId, rpcUrls: [devnet.rpcUrl], timeoutMs: 10_000 });
  });

  afterAll(() => chain.close());

  it('is read from the chain, and is unknown if the chain is a different one or down', async () => {
    await callRpc(devnet.rpcUrl, 'anvil_setNonce', [ADDRESS, '0x29']);
    await callRpc(devnet.rpcUrl, 'evm_mine', []);
    const controller = new ReadMinedNonceController(chain);
    const lane = { chainId: devnet.chainId, address: ADDRESS };
    const question = { ...lane, attempts: [] };
    expect(await controller.read(question)).toEqual({ outcome: 'read', minedNonce: 41, isAttemptMined: false });
    expect(() => controller.read(lane as ReadMinedNonceRequest)).toThrow(RpcException);
    const [sender] = (await callRpc(devnet.rpcUrl, 'eth_accounts', [])) as string[];
    const hash = (await callRpc(devnet.rpcUrl, 'eth_sendTransaction', [{ from: sender, to: ADDRESS }])) as Hex;
    await callRpc(devnet.rpcUrl, 'evm_mine', []);
    const unknown: Hex = `0x${'ab'.repeat(32)}`;
    expect(await controller.read({ ...lane, attempts: [unknown] })).toMatchObject({ isAttemptMined: false });
    expect(await controller.read({ ...lane, attempts: [unknown, hash] })).toMatchObject({ isAttemptMined: true });
    expect(await controller.read({ ...question, chainId: 1 })).toMatchObject({ outcome: 'unavailable' });
    await devnet.stop();
    expect(await controller.read(question)).toMatchObject({ outcome: 'unavailable' });
  });
});
