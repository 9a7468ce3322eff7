import { parseAbi } from 'viem';

export const liquidStakingAbi = parseAbi([
  'struct Ticket { uint256 id; uint256 amountWei; uint256 claimableAt; }',
  'function minimumStake() view returns (uint256)',
  'function unbondingSeconds() view returns (uint256)',
  'function balanceOf(address owner) view returns (uint256)',
  'function convertToShares(uint256 amountWei) view returns (uint256)',
  'function convertToAssets(uint256 shares) view returns (uint256)',
  'function ticketsOf(address owner) view returns (Ticket[] memory)',
  'function stake() payable returns (uint256 shares)',
  'function queueUnstake(uint256 shares) returns (uint256 ticketId)',
  'function claim() returns (uint256 amountWei)',
  'error BelowMinimum(uint256 amount, uint256 minimum)',
  'error NothingToClaim()',
  'error TransferRefused(address receiver)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
]);
