// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {TestToken} from "./TestToken.sol";

/// @title A token that burns 1 % of each transfer
/// @notice The recipient receives less than the sent amount: software that trusts the sent amount loses money.
contract FeeToken is TestToken {
    constructor() TestToken("Fee on transfer", "FEE", 18) {}

    function _update(address from, address to, uint256 value) internal override {
        bool isTransfer = from != address(0) && to != address(0);
        uint256 fee = isTransfer ? value / 100 : 0;
        if (fee > 0) super._update(from, address(0), fee);
        super._update(from, to, value - fee);
    }
}
