// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {TestToken} from "./TestToken.sol";

/// @title A token that can be minted and never moved
contract RevertingToken is TestToken {
    constructor() TestToken("Reverts on transfer", "RVT", 18) {}

    function _update(address from, address to, uint256 value) internal override {
        require(from == address(0), "RVT: transfers are switched off");
        super._update(from, to, value);
    }
}
