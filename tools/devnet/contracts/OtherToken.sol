// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token that a gate does not accept
/// @notice It calls itself USDC too; only its address is different. Anyone may mint.
contract OtherToken is ERC20 {
    constructor() ERC20("USDC", "USDC") {}

    /// @notice Creates tokens out of nothing, for anyone: this is a test token.
    /// @param to The recipient.
    /// @param amount The amount, in base units.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @inheritdoc ERC20
    function decimals() public pure override returns (uint8) {
        return 6;
    }
}
