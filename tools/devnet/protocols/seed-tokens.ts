import { encodeFunctionData, erc20Abi, maxUint256, parseAbi, parseEther, parseUnits, type Address } from 'viem';

import type { PlannedAddresses } from './create-contracts.js';
import { DEPLOYER, type DeployerCall } from './deployer.js';

const mintAbi = parseAbi(['function mint(address to, uint256 amount)']);
const wrapAbi = parseAbi(['function deposit() payable']);

/** Each account's part, in base units; native coin and USDC it has from the chain. */
const PER_ACCOUNT = {
  WSEI: parseEther('1000'),
  WBTC: parseUnits('10', 8),
  FEE: parseEther('1000'),
  RVT: parseEther('1000'),
  EVIL: parseEther('1000'),
};

/** Gives the deployer the tokens that seed the protocols, and the accounts some of each token. */
export function seedTokens({ tokens }: PlannedAddresses, receivers: readonly Address[]): DeployerCall[] {
  const mint = (token: Address, to: Address, amount: bigint): DeployerCall => ({
    to: token,
    data: encodeFunctionData({ abi: mintAbi, args: [to, amount] }),
  });
  return [
    mint(tokens.USDC, DEPLOYER, parseUnits('50000000', 6)),
    mint(tokens.WBTC, DEPLOYER, parseUnits('1000', 8)),
    { to: tokens.WSEI, data: encodeFunctionData({ abi: wrapAbi }), valueWei: parseEther('50000000') },
    ...receivers.flatMap((receiver) => [
      {
        to: tokens.WSEI,
        data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [receiver, PER_ACCOUNT.WSEI] }),
      },
      ...(['WBTC', 'FEE', 'RVT', 'EVIL'] as const).map((symbol) => mint(tokens[symbol], receiver, PER_ACCOUNT[symbol])),
    ]),
  ];
}

/** Lets a protocol take any amount of the deployer's tokens. */
export function approveAll(token: Address, spender: Address): DeployerCall {
  return {
    to: token,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, maxUint256] }),
  };
}
