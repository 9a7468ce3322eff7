// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/// @title A token in the manner of USDT
/// @notice It returns nothing where the standard says a boolean, and changes an allowance only to or from 0.
contract StubbornToken {
    string public constant name = "Stubborn";
    string public constant symbol = "STUB";
    uint8 public constant decimals = 6;
    uint256 public totalSupply;
    mapping(address owner => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    /// @notice Creates tokens out of nothing, for anyone: this is a test token.
    /// @param to Who receives them.
    /// @param amount How many, in base units.
    function mint(address to, uint256 amount) external {
        totalSupply += amount;
        balanceOf[to] += amount;
    }

    /// @notice Lets somebody take tokens of the caller.
    /// @param spender Who may.
    /// @param amount How many, in base units; 0 first, where there is an allowance already.
    function approve(address spender, uint256 amount) external {
        require(amount == 0 || allowance[msg.sender][spender] == 0, "STUB: set the allowance to 0 first");
        allowance[msg.sender][spender] = amount;
    }

    /// @notice Moves tokens of the caller.
    /// @param to Who receives them.
    /// @param amount How many, in base units.
    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
    }

    /// @notice Moves tokens that their owner let the caller take.
    /// @param from Whose they are.
    /// @param to Who receives them.
    /// @param amount How many, in base units.
    function transferFrom(address from, address to, uint256 amount) external {
        allowance[from][msg.sender] -= amount;
        _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private {
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
    }
}
