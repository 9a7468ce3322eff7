// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {LiquidStaking} from "./LiquidStaking.sol";

/// @title A staker that claims again while it is being paid
/// @notice For tests: it must not receive more than it staked.
contract ReentrantStaker {
    LiquidStaking private immutable _staking;

    /// @notice How often it tried to claim from within a payout.
    uint256 public attempts;

    /// @param staking The contract to attack.
    constructor(LiquidStaking staking) {
        _staking = staking;
    }

    receive() external payable {
        attempts++;
        try _staking.claim() {} catch {}
    }

    /// @notice Stakes the coins sent, and queues all of it for unstaking in two tickets.
    function enter() external payable {
        uint256 shares = _staking.stake{value: msg.value}();
        _staking.queueUnstake(shares / 2);
        _staking.queueUnstake(shares - shares / 2);
    }

    /// @notice Claims the matured tickets, and more if it can.
    function attack() external {
        _staking.claim();
    }
}
