import { parseAbi } from 'viem';

import type { StepFailures } from '../types/plan.js';

/** The errors of ERC-6093 for ERC-20; older tokens revert with a text. */
export const ERC20_FAILURES: StepFailures = {
  errors: parseAbi([
    'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
    'error ERC20InvalidSender(address sender)',
    'error ERC20InvalidReceiver(address receiver)',
    'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
    'error ERC20InvalidApprover(address approver)',
    'error ERC20InvalidSpender(address spender)',
  ]),
  codes: { ERC20InsufficientBalance: 'INSUFFICIENT_BALANCE' },
  isFalseRefusal: true,
};

/** The errors of ERC-6093 for ERC-721. */
export const ERC721_FAILURES: StepFailures = {
  errors: parseAbi([
    'error ERC721InvalidOwner(address owner)',
    'error ERC721NonexistentToken(uint256 tokenId)',
    'error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner)',
    'error ERC721InvalidSender(address sender)',
    'error ERC721InvalidReceiver(address receiver)',
    'error ERC721InsufficientApproval(address operator, uint256 tokenId)',
  ]),
};
