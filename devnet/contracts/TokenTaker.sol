// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

interface ITakenToken {
    function transferFrom(address from, address to, uint256 amount) external;
}

/// @title A protocol that takes tokens, and refuses as it is told
/// @notice Stands in for whatever is approved and called next.
contract TokenTaker {
    /// @notice Refusals are off until somebody turns them on.
    bool public isClosed;

    /// @notice Closed, it refuses every call with this.
    error Closed();

    /// @notice Opens or closes it, for anyone: this is a test contract.
    /// @param isClosed_ Whether it refuses from now on.
    function setClosed(bool isClosed_) external {
        isClosed = isClosed_;
    }

    /// @notice Takes tokens of the caller, who let it.
    /// @param token Which.
    /// @param amount How many, in base units.
    function take(address token, uint256 amount) external {
        if (isClosed) revert Closed();
        ITakenToken(token).transferFrom(msg.sender, address(this), amount);
    }

    /// @notice Refuses, with this reason.
    /// @param reason Any text.
    function refuse(string calldata reason) external pure {
        revert(reason);
    }
}
