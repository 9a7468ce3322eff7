// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// @title A token that refuses by returning false
/// @notice Some early tokens do so: the transaction succeeds although no tokens moved.
contract FalseToken {
    string public constant name = "False";
    string public constant symbol = "FALSE";
    uint8 public constant decimals = 18;
    uint256 public constant totalSupply = 1e24;
    mapping(address owner => uint256) public balanceOf;

    /// @notice Creates tokens out of nothing, for anyone: this is a test token.
    /// @param to The recipient.
    /// @param amount The amount, in base units.
    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    /// @notice Never moves anything.
    /// @return Always false.
    function transfer(address, uint256) external pure returns (bool) {
        return false;
    }

    /// @notice Never grants an allowance.
    /// @return Always false.
    function approve(address, uint256) external pure returns (bool) {
        return false;
    }

    /// @return Always 0.
    function allowance(address, address) external pure returns (uint256) {
        return 0;
    }
}
