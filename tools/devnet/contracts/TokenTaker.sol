// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

interface ITakenToken {
    function transferFrom(address from, address to, uint256 amount) external;
}

/// @title A protocol that takes tokens, and refuses on demand
/// @notice Represents any protocol that is approved and then called.
contract TokenTaker {
    /// @notice Whether it refuses; initially it does not.
    bool public isClosed;

    /// @notice While it is closed, every call fails with this error.
    error Closed();

    /// @notice Opens or closes it, for anyone: this is a test contract.
    /// @param isClosed_ Whether it refuses from now on.
    function setClosed(bool isClosed_) external {
        isClosed = isClosed_;
    }

    /// @notice Takes tokens that the caller has approved.
    /// @param token The token.
    /// @param amount The amount, in base units.
    function take(address token, uint256 amount) external {
        if (isClosed) revert Closed();
        ITakenToken(token).transferFrom(msg.sender, address(this), amount);
    }

    /// @notice Reverts with this reason.
    /// @param reason Any text.
    function refuse(string calldata reason) external pure {
        revert(reason);
    }
}
