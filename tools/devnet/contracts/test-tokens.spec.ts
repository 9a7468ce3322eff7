import { PERMIT2_ADDRESS } from '@tollgate/protocol';
import { domainSeparator, erc20Abi, erc721Abi, parseAbi, parseEther, type Address } from 'viem';

import { createTrader, type Trader } from '../../../test/harness/agents/trader.js';
import { startChain, type DevnetWithProtocols } from '../chain/chain.js';

describe('the tokens of the devnet', () => {
  let chain: DevnetWithProtocols;
  let trader: Trader;
  const receiver: Address = '0x00000000000000000000000000000000000A11cE';

  beforeAll(async () => {
    chain = await startChain({ protocols: true });
    trader = createTrader(chain, 0);
  });

  afterAll(async () => {
    await chain.stop();
  });

  const transfer = (token: Address, amount: bigint) =>
    trader.mined(
      trader.writeContract({ address: token, abi: erc20Abi, functionName: 'transfer', args: [receiver, amount] }),
    );
  const balanceOf = (token: Address, owner: Address) =>
    trader.readContract({ address: token, abi: erc20Abi, functionName: 'balanceOf', args: [owner] });

  it('keeps 1 % of each transfer of FEE', async () => {
    const { FEE } = chain.contracts.tokens;
    const token = { address: FEE, abi: erc20Abi } as const;
    const supply = await trader.readContract({ ...token, functionName: 'totalSupply' });
    await transfer(FEE, 1000n);
    expect(await balanceOf(FEE, receiver)).toBe(990n);
    expect(await trader.readContract({ ...token, functionName: 'totalSupply' })).toBe(supply - 10n);
  });

  it('moves no RVT, and gives the reason', async () => {
    const { RVT } = chain.contracts.tokens;
    await expect(transfer(RVT, 1n)).rejects.toThrow('RVT: transfers are switched off');
    await trader.mined(
      trader.writeContract({ address: RVT, abi: erc20Abi, functionName: 'approve', args: [trader.address, 1n] }),
    );
    const args = [trader.address, receiver, 1n] as const;
    const moving = trader.writeContract({ address: RVT, abi: erc20Abi, functionName: 'transferFrom', args });
    await expect(moving).rejects.toThrow('RVT: transfers are switched off');
  });

  it('moves EVIL like any other token', async () => {
    const { EVIL } = chain.contracts.tokens;
    await transfer(EVIL, 5n);
    expect(await balanceOf(EVIL, receiver)).toBe(5n);
  });

  it('wraps and unwraps the native coin one to one', async () => {
    const { WSEI } = chain.contracts.tokens;
    const abi = parseAbi([
      'function deposit() payable',
      'function withdraw(uint256 amount)',
      'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
    ]);
    const before = await balanceOf(WSEI, trader.address);
    await trader.mined(trader.writeContract({ address: WSEI, abi, functionName: 'deposit', value: parseEther('3') }));
    await trader.mined(trader.sendTransaction({ to: WSEI, value: parseEther('2') }));
    expect((await balanceOf(WSEI, trader.address)) - before).toBe(parseEther('5'));
    const coins = await trader.getBalance({ address: WSEI });
    await trader.mined(trader.writeContract({ address: WSEI, abi, functionName: 'withdraw', args: [parseEther('5')] }));
    expect(coins - (await trader.getBalance({ address: WSEI }))).toBe(parseEther('5'));
    const tooMuch = trader.writeContract({ address: WSEI, abi, functionName: 'withdraw', args: [before + 1n] });
    await expect(tooMuch).rejects.toThrow('ERC20InsufficientBalance');
  });

  it('mints an NFT for anyone, each number once, and only its owner moves it', async () => {
    const abi = [
      ...erc721Abi,
      ...parseAbi([
        'function mint(address to, uint256 tokenId)',
        'error ERC721InvalidSender(address sender)',
        'error ERC721InsufficientApproval(address operator, uint256 tokenId)',
      ]),
    ] as const;
    const nft = { address: chain.contracts.nft, abi } as const;
    const mint = { ...nft, functionName: 'mint', args: [trader.address, 7n] } as const;
    await trader.mined(trader.writeContract(mint));
    await expect(trader.writeContract(mint)).rejects.toThrow('ERC721InvalidSender');
    const move = { ...nft, functionName: 'safeTransferFrom', args: [trader.address, receiver, 7n] } as const;
    await expect(createTrader(chain, 1).writeContract(move)).rejects.toThrow('ERC721InsufficientApproval');
    await trader.mined(trader.writeContract(move));
    expect(await trader.readContract({ ...nft, functionName: 'ownerOf', args: [7n] })).toBe(receiver);
  });

  it('reads all of it in one call through Multicall3', async () => {
    const { tokens, multicall3 } = chain.contracts;
    const contracts = [tokens.USDC, tokens.WBTC].map(
      (address) => ({ address, abi: erc20Abi, functionName: 'decimals' }) as const,
    );
    expect(await trader.multicall({ contracts, multicallAddress: multicall3, allowFailure: false })).toEqual([6, 8]);
  });

  it('has a Permit2 whose domain is this chain', async () => {
    const call = {
      address: PERMIT2_ADDRESS,
      abi: parseAbi([
        'function DOMAIN_SEPARATOR() view returns (bytes32)',
        'function allowance(address owner, address token, address spender) view returns (uint160 amount, uint48 expiration, uint48 nonce)',
      ]),
    } as const;
    const { chainId } = chain;
    const domain = { name: 'Permit2', chainId, verifyingContract: PERMIT2_ADDRESS };
    expect(await trader.readContract({ ...call, functionName: 'DOMAIN_SEPARATOR' })).toBe(domainSeparator({ domain }));
    const args = [trader.address, chain.asset, receiver] as const;
    expect(await trader.readContract({ ...call, functionName: 'allowance', args })).toEqual([0n, 0, 0]);
  });
});
