// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// @title A token that behaves like USDT
/// @notice It returns nothing where the standard requires a boolean, and changes an allowance only to or from 0.
contract StubbornToken {
    string public constant name = "Stubborn";
    string public constant symbol = "STUB";
    uint8 public constant decimals = 6;
    uint256 public totalSupply;
    mapping(address owner => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    /// @notice Creates tokens out of nothing, for anyone: this is a test token.
    /// @param to The recipient.
    /// @param amount The amount, in base units.
    function mint(address to, uint256 amount) external {
        totalSupply += amount;
        balanceOf[to] += amount;
    }

    /// @notice Approves a spender for tokens of the caller.
    /// @param spender The approved account.
    /// @param amount The amount, in base units; an existing allowance must be set to 0 first.
    function approve(address spender, uint256 amount) external {
        require(amount == 0 || allowance[msg.sender][spender] == 0, "STUB: set the allowance to 0 first");
        allowance[msg.sender][spender] = amount;
    }

    /// @notice Moves tokens of the caller.
    /// @param to The recipient.
    /// @param amount The amount, in base units.
    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
    }

    /// @notice Moves tokens that the caller is approved for.
    /// @param from The owner of the tokens.
    /// @param to The recipient.
    /// @param amount The amount, in base units.
    function transferFrom(address from, address to, uint256 amount) external {
        allowance[from][msg.sender] -= amount;
        _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
    }
}
