// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title The native coin as a token, one to one
contract WrappedNative is ERC20 {
    event Deposit(address indexed owner, uint256 amount);
    event Withdrawal(address indexed owner, uint256 amount);

    /// @notice The receiver refused the coins.
    error TransferRefused(address receiver);

    constructor() ERC20("Wrapped SEI", "WSEI") {}

    receive() external payable {
        deposit();
    }

    /// @notice Wraps the coins sent.
    function deposit() public payable {
        _mint(msg.sender, msg.value);
        emit Deposit(msg.sender, msg.value);
    }

    /// @notice Unwraps.
    /// @param amount How much, in wei.
    function withdraw(uint256 amount) external {
        _burn(msg.sender, amount);
        emit Withdrawal(msg.sender, amount);
        (bool ok,) = msg.sender.call{value: amount}("");
        require(ok, TransferRefused(msg.sender));
    }
}
