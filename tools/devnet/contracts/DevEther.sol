// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title The devnet's token without signed calls
/// @notice A plain ERC-20 token of 18 decimals, neither with EIP-2612 `permit` nor with EIP-3009 authorizations. Anyone may
/// mint: never deploy it where money is real.
/// @dev Placed like Usdc at a fixed address without running the constructor there, so name and symbol are constants.
contract DevEther is ERC20 {
    constructor() ERC20("Dev Ether", "WDEV") {}

    /// @notice Creates tokens out of nothing, for anyone: this is a test token.
    /// @param to The recipient.
    /// @param amount The amount, in base units (10^-18 of a token).
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @inheritdoc ERC20
    function name() public pure override returns (string memory) {
        return "Dev Ether";
    }

    /// @inheritdoc ERC20
    function symbol() public pure override returns (string memory) {
        return "WDEV";
    }
}
