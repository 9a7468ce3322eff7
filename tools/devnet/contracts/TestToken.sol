// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token that anyone may mint
/// @notice Its creator chooses name, symbol and decimals: a token's own text cannot be trusted.
contract TestToken is ERC20 {
    uint8 private immutable _decimals;

    /// @param name_ Any text.
    /// @param symbol_ Any text.
    /// @param decimals_ The number of decimals of amounts.
    constructor(string memory name_, string memory symbol_, uint8 decimals_) ERC20(name_, symbol_) {
        _decimals = decimals_;
    }

    /// @notice Creates tokens out of nothing, for anyone: this is a test token.
    /// @param to The recipient.
    /// @param amount The amount, in base units.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @inheritdoc ERC20
    function decimals() public view override returns (uint8) {
        return _decimals;
    }
}
